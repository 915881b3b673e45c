import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { foundModels } from '../../../main/services/models/found.ts';
import { foundPlaces } from '../../../main/services/models/found-places.ts';
import { importModel } from '../../../main/services/models/import.ts';
import { inspectModel } from '../../../main/services/models/inspect.ts';
import { listModels } from '../../../main/services/models/list.ts';
import { writeSmall } from '../../model/gguf-file.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { modelHost } from './places.ts';

const MACHINE = { freeBytes: 2 ** 33, gpu: null, native: false };

function write(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function gguf(file: string, type = 'F16', changed = {}): string {
  mkdirSync(dirname(file), { recursive: true });
  return writeSmall(file, type, changed);
}

/** A home in which each program has models. */
async function homeOfMany(): Promise<string> {
  const home = temporaryFolder();
  const hub = join(home, '.cache/huggingface/hub');
  const blobs = join(hub, 'models--owner--small/blobs');
  disposeModel(await writeTinyModel(blobs));
  for (const commit of ['aaaaaaa', 'bbbbbbb']) {
    mkdirSync(join(hub, 'models--owner--small/snapshots', commit), { recursive: true });
    for (const name of readdirSync(blobs))
      symlinkSync(join(blobs, name), join(hub, 'models--owner--small/snapshots', commit, name));
  }
  write(join(hub, 'models--owner--small/refs/main'), 'aaaaaaa');
  gguf(join(hub, 'models--owner--gguf/snapshots/ccccccc/small.gguf'), 'Q8_0');
  write(join(hub, 'datasets--owner--data/snapshots/ccccccc/config.json'), '{}');
  const ollama = join(home, '.ollama/models');
  const digest = '7'.repeat(64);
  gguf(join(ollama, `blobs/sha256-${digest}`), 'Q4_K');
  const layers = [{ mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}` }];
  write(join(ollama, 'manifests/registry.ollama.ai/library/small/1b'), JSON.stringify({ layers }));
  write(join(ollama, 'manifests/registry.ollama.ai/library/small/bad'), 'not JSON');
  const outside = [{ mediaType: 'application/vnd.ollama.image.model', digest: 'sha256:../../../secret' }];
  write(join(ollama, 'manifests/registry.ollama.ai/me/own/x'), JSON.stringify({ layers: outside }));
  gguf(join(home, 'elsewhere/maker/model/model-Q6_K.gguf'), 'Q6_K');
  gguf(join(home, 'elsewhere/maker/model/mmproj-model.gguf'));
  write(join(home, '.lmstudio/settings.json'), JSON.stringify({ downloadsFolder: join(home, 'elsewhere') }));
  gguf(join(home, '.cache/llama.cpp/strange.gguf'), 'F16', { 'general.architecture': 'mamba' });
  gguf(join(home, '.cache/llama.cpp/parts-00001-of-00002.gguf'), 'F16', { 'split.count': 2 });
  gguf(join(home, '.cache/llama.cpp/parts-00002-of-00002.gguf'), 'F16', { 'split.count': 2 });
  return home;
}

const here = (home: string, env = {}) => foundPlaces({ env, home, platform: 'linux' });

describe('foundModels', () => {
  it('lists what each program has, with what Braid can do with it', async () => {
    const home = await homeOfMany();
    const host = modelHost();
    const found = await foundModels(host, MACHINE, here(home));
    const brief = found.map(({ source, name, kind, weights, bits, problem }) =>
      [source, name, kind, weights, bits, problem?.slice(0, 26)].join(' '),
    );
    expect(brief).toEqual([
      'ollama small:1b gguf Q4_K 4 ',
      'lm-studio maker/model/model-Q6_K gguf Q6_K 6 ',
      'hugging-face owner/gguf/small gguf Q8_0 8 ',
      'hugging-face owner/small folder F32  ',
      'llama.cpp parts-00001-of-00002 gguf   it is one of 2 parts of a ',
      'llama.cpp strange gguf   its architecture, "mamba",',
    ]);
    const [first] = found;
    expect(first).toMatchObject({ architecture: 'llama', memory: { fits: 'full' }, ref: null });
    expect(first?.bytes).toBeGreaterThan(100_000);
    const scarce = await foundModels(host, { ...MACHINE, freeBytes: 2 ** 20 }, here(home));
    expect(scarce[0]?.memory?.fits).toBe('none');
  });

  it('uses a folder of links in place, under the name of its model', async () => {
    const host = modelHost();
    const home = await homeOfMany();
    const folder = join(home, '.cache/huggingface/hub/models--owner--small/snapshots/aaaaaaa');
    const { ref } = importModel(host, folder, false);
    expect(listModels(host)).toContainEqual(expect.objectContaining({ ref, name: 'small', problem: null }));
    expect(inspectModel(host, ref, MACHINE).files[0]).toMatchObject({ name: 'model.safetensors' });
    const found = await foundModels(host, MACHINE, here(home));
    expect(found.find(({ name }) => name === 'owner/small')?.ref).toBe(ref);
  });
});

describe('foundPlaces', () => {
  it('reads the variables that the programs read', () => {
    const home = temporaryFolder();
    for (const name of ['o', 'h/hub', 'c', 'l', '.cache/llama.cpp']) mkdirSync(join(home, name), { recursive: true });
    const folders = (env: Readonly<Record<string, string>>) =>
      here(home, env).map(({ source, folder }) => [source, folder]);
    expect(folders({})).toEqual([['llama.cpp', join(home, '.cache/llama.cpp')]]);
    expect(folders({ OLLAMA_MODELS: join(home, 'o'), HF_HOME: '~/h', LLAMA_CACHE: join(home, 'l') })).toEqual([
      ['ollama', join(home, 'o')],
      ['hugging-face', join(home, 'h/hub')],
      ['llama.cpp', join(home, 'l')],
    ]);
    expect(folders({ HF_HUB_CACHE: join(home, 'c'), HF_HOME: '~/h' })[0]).toEqual(['hugging-face', join(home, 'c')]);
  });
});
