import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findNode, launchByBackend } from '../../main/desktop/trainer-node.ts';
import type { TrainerChannel } from '../../main/services/trainer-process/channel.ts';
import type { BackendSetting } from '../../main/trainer/config/backend-names.ts';
import { temporaryFolder } from '../temporary-folder.ts';

afterEach(() => vi.unstubAllEnvs());

/** What answers a trainer that is started for a backend: the process of Electron's, or one of plain Node. */
async function answering(backend: BackendSetting | undefined, node: string | null, hasGpu: boolean): Promise<string> {
  const entry = join(temporaryFolder(), 'entry.mjs');
  writeFileSync(entry, 'process.once("message", (m) => process.send(m, () => process.disconnect()));');
  let heard: (message: unknown) => void = () => undefined;
  const utility = (): TrainerChannel<object> => ({
    pid: 1,
    stderr: null,
    kill: () => undefined,
    onExit: () => undefined,
    post: () => heard('Electron'),
    onMessage: (listener) => {
      heard = listener;
    },
  });
  const channel = launchByBackend(utility, entry, node, () => hasGpu)(undefined, backend);
  return new Promise((resolve) => {
    channel.onMessage((message) => resolve(message === 'Electron' ? message : 'Node'));
    channel.post({ hello: 1 });
  });
}

describe('launchByBackend', () => {
  it('starts plain Node for what may compute by WebGPU, and nothing else', async () => {
    const node = process.execPath;
    expect(await answering('webgpu', node, false)).toBe('Node');
    expect(await answering('auto', node, true)).toBe('Node');
    expect(await answering('auto', node, false)).toBe('Electron');
    for (const backend of ['wasm', 'native', undefined] as const)
      expect(await answering(backend, node, true)).toBe('Electron');
  });

  it("stays in Electron's process where there is no Node, which then says so", async () => {
    expect(await answering('webgpu', null, true)).toBe('Electron');
  });
});

describe('findNode', () => {
  const program = (folder: string): string => {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, process.platform === 'win32' ? 'node.exe' : 'node');
    writeFileSync(file, '');
    chmodSync(file, 0o755);
    return file;
  };

  it("is the package's own before the system's", () => {
    const [packaged, path] = [temporaryFolder(), temporaryFolder()];
    const [own, other] = [program(join(packaged, 'node/bin')), program(path)];
    vi.stubEnv('PATH', path);
    expect(findNode(packaged, packaged)).toBe(own);
    expect(findNode(temporaryFolder(), temporaryFolder())).toBe(other);
  });
});
