import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { currentLayout } from '../../../main/native/folder.ts';
import { buildKernels } from '../../../main/tensor/kernels/build.ts';
import { openBackend } from '../../../main/trainer/backend/open-backend.ts';
import { nativeUnderTest } from '../../native-under-test.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';

const folder = temporaryFolderOfFile();

const own = nativeUnderTest;
const before = process.env.BRAID_NATIVE;
const kernelsFile = buildKernels();

describe('openBackend', () => {
  let place: string;
  beforeEach(() => {
    place = mkdtempSync(join(folder, 'native-'));
    process.env.BRAID_NATIVE = place;
  });
  afterEach(() => {
    process.env.BRAID_NATIVE = before;
  });

  /** A set-up whose addon is a few bytes of text. */
  function breakSetUp(): void {
    const { root, manifest, addon } = currentLayout(place);
    mkdirSync(root);
    const facts = { version: 1, tensorflow: '2.21.0', source: 'a file', addon: '4.22.0', cuda: false };
    writeFileSync(manifest, JSON.stringify(facts));
    writeFileSync(addon, 'no addon');
  }

  it('uses wasm and says that native is not set up', async () => {
    const backend = await openBackend({ backend: 'auto', threads: 1, kernelsFile });
    expect(backend).toMatchObject({ name: 'wasm', threads: 1 });
    expect(backend.why).toMatch(/^WebAssembly on 1 thread.*\(the native backend is not set up\)$/);
    await backend.close();
  });

  it('uses wasm and says what is wrong with native', async () => {
    breakSetUp();
    const backend = await openBackend({ backend: 'auto', threads: 1, kernelsFile });
    expect(backend.name).toBe('wasm');
    expect(backend.why).toMatch(/a library is damaged: .*tfjs_binding\.node: file too short/);
    expect(tf.tidy(() => tf.add(1, 2).dataSync()[0])).toBe(3);
    await backend.close();
  });

  it('rejects native where it does not work, with what to do', async () => {
    breakSetUp();
    await expect(openBackend({ backend: 'native', threads: 1, kernelsFile })).rejects.toMatchObject({
      code: 'NO_NATIVE_BACKEND',
      kind: 'input',
      message: expect.stringMatching(/^The native backend doesn't work: a library is damaged/),
      remedy: expect.stringContaining('Set it up in Settings'),
    });
  });

  it('uses wasm if requested', async () => {
    const backend = await openBackend({ backend: 'wasm', threads: 1, kernelsFile });
    expect(backend.why).toMatch(/\(as requested\)$/);
    await backend.close();
  });

  describe.runIf(own !== null)('with a set-up', () => {
    it('uses wasm if part of the package is missing', async () => {
      const [from, to] = [own ?? currentLayout(place), currentLayout(place)];
      mkdirSync(to.root);
      cpSync(from.manifest, to.manifest);
      cpSync(from.addon, to.addon);
      symlinkSync(from.libraries, to.libraries);
      mkdirSync(to.package);
      const backend = await openBackend({ backend: 'auto', threads: 1, kernelsFile });
      expect(backend.name).toBe('wasm');
      expect(backend.why).toMatch(/it crashed when tried: Cannot find module/);
      await backend.close();
    });

    it('uses native if its self-check passes', async () => {
      process.env.BRAID_NATIVE = dirname(own?.root ?? '');
      const backend = await openBackend({ backend: 'auto', threads: 2, kernelsFile });
      expect(backend.name).toBe('native');
      expect(backend.why).toMatch(/^TensorFlow \d+\.\d+\.\d+ on .* \(its self-check passed\)$/);
      expect(tf.tidy(() => tf.add(1, 2).dataSync()[0])).toBe(3);
      await backend.close();
    });
  });
});
