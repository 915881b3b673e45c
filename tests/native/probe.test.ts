import { copyFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nativeFolder, nativeLayout, readManifest } from '../../main/native/folder.ts';
import { probeAddon } from '../../main/native/probe.ts';
import { explainProblem, problemSentence } from '../../main/native/problems.ts';
import { sharedObjects } from '../../main/services/native-setup/library.ts';
import { nativeUnderTest } from '../native-under-test.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';

const folder = temporaryFolderOfFile();

describe('probeAddon', () => {
  it("tells an addon that was never built, one that isn't an addon, and one of another package", async () => {
    expect(await probeAddon(join(folder, 'none.node'))).toMatchObject({ problem: { kind: 'not-built' } });
    const text = join(folder, 'text.node');
    writeFileSync(text, 'hello');
    expect(await probeAddon(text)).toMatchObject({ problem: { kind: 'library-broken' } });
    const sqlite = dirname(createRequire(import.meta.url).resolve('better-sqlite3/package.json'));
    const other = join(folder, 'other.js');
    writeFileSync(other, `module.exports = require(${JSON.stringify(sqlite)});`);
    expect(await probeAddon(other)).toMatchObject({
      problem: { kind: 'crashed', detail: expect.stringMatching(/TypeError/) },
    });
  });

  it('survives one that ends its process, and one that never answers', async () => {
    const crash = join(folder, 'crash.js');
    writeFileSync(crash, 'process.kill(process.pid, "SIGSEGV"); setTimeout(() => {}, 10000);');
    expect(await probeAddon(crash)).toEqual({
      ok: false,
      problem: { kind: 'crashed', detail: 'it ended with SIGSEGV' },
    });
    const hang = join(folder, 'hang.js');
    writeFileSync(hang, 'setInterval(() => {}, 1000); module.exports = null; while (true);');
    expect(await probeAddon(hang, 500)).toMatchObject({ problem: { kind: 'no-answer' } });
  });

  it('finds out that the numbers are wrong', async () => {
    const wrong = join(folder, 'wrong.js');
    writeFileSync(
      wrong,
      `module.exports = { TF_Version: '2', createTensor: () => 1, isUsingGpuDevice: () => false,
        executeOp: () => [{ id: 2 }], tensorDataSync: () => new Float32Array(4096) };`,
    );
    expect(await probeAddon(wrong)).toMatchObject({ problem: { kind: 'wrong-numbers' } });
  });
});

describe('explainProblem', () => {
  it.each([
    [
      'Error: libcudart.so.12: cannot open shared object file: No such file or directory',
      'library-missing',
      'libcudart.so.12',
    ],
    ['Error: /x/libtensorflow_cc.so.2: file too short', 'library-broken', '/x/libtensorflow_cc.so.2: file too short'],
    ['Error: /x/a.node: undefined symbol: TFE_NewOp', 'wrong-library', 'undefined symbol: TFE_NewOp'],
    [
      "/lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by x)",
      'wrong-machine',
      "version `GLIBCXX_3.4.32' not found (required by x)",
    ],
  ])('reads %s', (stderr, kind, detail) => {
    expect(explainProblem(stderr, 'code 1')).toEqual({ kind, detail });
  });

  it('has a sentence for every kind', () => {
    expect(problemSentence({ kind: 'library-missing', detail: 'libcudart.so.12' })).toBe(
      'the library libcudart.so.12 is missing',
    );
  });
});

describe('nativeFolder', () => {
  it('is BRAID_NATIVE, else in the user data', () => {
    expect(nativeFolder({ BRAID_NATIVE: folder })).toBe(folder);
    expect(nativeFolder({})).toMatch(/braid.*native$/);
  });

  it('has no manifest where there is none, or one of another version', () => {
    const layout = nativeLayout(folder);
    expect(readManifest(layout)).toBeNull();
    writeFileSync(layout.manifest, '{"version": 2}');
    expect(readManifest(layout)).toBeNull();
  });
});

const current = nativeUnderTest ?? nativeLayout(folder);

describe.runIf(nativeUnderTest !== null)('a set-up whose library goes wrong', () => {
  /** The addon of the set-up beside links to its libraries, of which one is changed. */
  function copy(name: string, change: (library: string) => void): string {
    const root = join(folder, name);
    mkdirSync(join(root, 'tensorflow'), { recursive: true });
    copyFileSync(current.addon, join(root, 'tfjs_binding.node'));
    const [first, ...others] = sharedObjects(current.libraries);
    for (const library of others) symlinkSync(join(current.libraries, library), join(root, 'tensorflow', library));
    change(join(root, 'tensorflow', first ?? ''));
    return join(root, 'tfjs_binding.node');
  }

  it('works as it is', async () => {
    expect(await probeAddon(current.addon)).toMatchObject({ ok: true, facts: { gpu: expect.any(Boolean) } });
  });

  it('names a library that was pulled away', async () => {
    const addon = copy('pulled', () => undefined);
    expect(await probeAddon(addon)).toMatchObject({
      problem: { kind: 'library-missing', detail: sharedObjects(current.libraries)[0] },
    });
  });

  it('names a library that was cut short', async () => {
    const addon = copy('cut', (library) => {
      writeFileSync(library, Buffer.alloc(64));
      truncateSync(library, 20);
    });
    expect(await probeAddon(addon)).toMatchObject({ problem: { kind: 'library-broken' } });
  });
});
