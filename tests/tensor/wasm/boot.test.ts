import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { buildKernels } from '../../../main/tensor/kernels/build.ts';
import { closeWasmBackend, openWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { openForTest } from './open.ts';

const tensorFolder = path.resolve(import.meta.dirname, '../../../main/tensor');
let folder: string;
let script: string;

beforeAll(() => {
  folder = temporaryFolderOfFile();
  script = path.join(folder, 'multiply.ts');
  // The script is outside the checkout, so it uses tfjs through the runtime's own backend.
  writeFileSync(
    script,
    `import { openWasmBackend } from ${JSON.stringify(path.join(tensorFolder, 'wasm/boot.ts'))};
import { gemm } from ${JSON.stringify(path.join(tensorFolder, 'wasm/gemm.ts'))};
const runtime = await openWasmBackend({ threads: 3, kernelsFile: ${JSON.stringify(buildKernels())} });
const { heap } = runtime;
const [a, c] = [heap.malloc(4 * 200 * 200), heap.malloc(4 * 200 * 200)];
heap.f32(a, 40000).fill(1);
gemm(runtime, { m: 200, n: 200, k: 200, a, aRow: 200, aCol: 1, b: a, bRow: 200, bCol: 1, c, cRow: 200 });
const sum = heap.f32(c, 40000).reduce((total, value) => total + value, 0);
if (process.send) {
  process.send(sum);
  process.disconnect();
} else console.log(sum);
`,
  );
});

describe('openWasmBackend', () => {
  it('works in a plain script, which then ends by itself', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [script], { timeout: 20_000 });
    expect(stdout.trim()).toBe(String(200 ** 3));
    expect(stderr).toBe('');
  });

  it('works in a forked process, which then ends by itself', async () => {
    const child = fork(script, { execArgv: [] });
    const exit = once(child, 'exit');
    const [sum] = await once(child, 'message');
    expect(sum).toBe(200 ** 3);
    expect(await exit).toEqual([0, null]);
  });

  it('becomes the current backend, and can be opened again after it was closed', async () => {
    for (const threads of [1, 2]) {
      const runtime = await openForTest(threads);
      expect(tf.getBackend()).toBe('wasm');
      expect(tf.tidy(() => [...tf.matMul(tf.ones([2, 3]), tf.ones([3, 1])).dataSync()])).toEqual([3, 3]);
      await closeWasmBackend(runtime);
      expect(tf.findBackend('wasm')).toBeNull();
    }
  });

  it('uses all cores by default', async () => {
    const runtime = await openWasmBackend({ kernelsFile: buildKernels() });
    expect(runtime.threads).toBe(os.availableParallelism());
    await closeWasmBackend(runtime);
  });

  it('opens where the system hides its processors', async () => {
    const hidden = vi.spyOn(os, 'cpus').mockReturnValue([]);
    onTestFinished(() => hidden.mockRestore());
    await closeWasmBackend(await openForTest(2));
    expect(hidden).not.toHaveBeenCalled();
  });

  it('leaves the process as it was: no listeners that rethrow, no global Worker', async () => {
    const state = () => ({
      rejection: process.listenerCount('unhandledRejection'),
      exception: process.listenerCount('uncaughtException'),
      worker: Object.hasOwn(globalThis, 'Worker'),
    });
    const before = state();
    const runtime = await openForTest(2);
    expect(state()).toEqual(before);
    await closeWasmBackend(runtime);
  });

  it('names the kernels file when it is missing', async () => {
    await expect(openWasmBackend({ kernelsFile: path.join(folder, 'none.wasm') })).rejects.toMatchObject({
      code: 'KERNELS_MISSING',
      message: expect.stringContaining('none.wasm'),
      remedy: expect.stringContaining('main/tensor/kernels/build.ts'),
    });
  });
});
