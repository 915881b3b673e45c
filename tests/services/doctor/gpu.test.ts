import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { NativeManifest } from '../../../main/native/folder.ts';
import type { ProbeResult } from '../../../main/native/probe.ts';
import { gpuChecks, kernelNames } from '../../../main/services/doctor/gpu.ts';
import type { GpuFacts } from '../../../main/services/native-setup/machine.ts';

const none: GpuFacts = { gpus: [], devices: 0, driver: null, libraries: new Map() };
const libraries = new Map(['libcudart.so.12', 'libcublas.so.12', 'libcudnn.so.9'].map((name) => [name, '/usr/lib']));
const whole: GpuFacts = {
  gpus: [{ name: 'NVIDIA A10', totalBytes: 23028 * 2 ** 20, freeBytes: null }],
  devices: 1,
  driver: '550.54.15',
  libraries,
};
const manifest: NativeManifest = {
  version: 1,
  tensorflow: '2.21.0',
  source: 'pip tensorflow==2.21.0',
  addon: '4.22.0',
  cuda: true,
};
const works = (gpu: boolean, notes: string[] = []): ProbeResult => ({
  ok: true,
  facts: { tensorflow: '2.21.0', gpu, notes },
});

/** `STATUS name: detail` of every line. */
const lines = (...args: Parameters<typeof gpuChecks>): string[] =>
  gpuChecks(...args).map(({ status, name, detail }) => `${status} ${name}: ${detail}`);

describe('gpuChecks', () => {
  it('finds nothing missing where there is no GPU', () => {
    expect(lines(none, null, null)).toEqual([
      'OK GPU: none found',
      'OK Native backend: not set up; not needed without an NVIDIA GPU',
    ]);
    const onCpu = (bfloat16?: boolean): string | undefined => {
      const probe = works(false);
      const facts = { tensorflow: '2.21.0', gpu: false, notes: [], ...(bfloat16 !== undefined && { bfloat16 }) };
      return lines(none, manifest, bfloat16 === undefined ? probe : { ok: true, facts }).at(-1);
    };
    expect(onCpu()).toBe('OK Native backend: TensorFlow 2.21.0 on the CPU');
    expect(onCpu(true)).toBe('OK Native backend: TensorFlow 2.21.0 on the CPU, with bfloat16');
    expect(onCpu(false)).toContain('on the CPU, in float32 only: it has no bfloat16');
  });

  it('warns of one that lacks kernels of this version, which no run on the processor uses', () => {
    const has = (kernels: string[], gpu = false): string | undefined => {
      const probe: ProbeResult = { ok: true, facts: { tensorflow: '2.21.0', gpu, notes: [], kernels } };
      const check = gpuChecks(none, manifest, probe, ['product', 'rope']).at(-1);
      return `${check?.status} ${check?.detail}`;
    };
    expect(has(['product'])).toMatch(/^WARN .* so runs on the CPU use wasm$/);
    expect(has(['product', 'rope', 'older'])).toMatch(/^OK /);
    expect(has([], true)).toMatch(/^OK .* on the GPU$/);
    const addon = fileURLToPath(new URL('../../../main/tensor/native/addon', import.meta.url));
    expect(kernelNames(addon)).toEqual(expect.arrayContaining(['product', 'stateSpaceStep', 'sumSquares']));
  });

  it('distinguishes a missing driver from an old one', () => {
    expect(lines({ ...none, devices: 1 }, null, null)).toContain('WARN GPU driver: none; 525.60.13 or newer is needed');
    expect(lines({ ...whole, driver: '470.199.02' }, null, null)).toContain(
      'WARN GPU driver: 470.199.02 is too old for CUDA 12.5: 525.60.13 or newer is needed',
    );
  });

  it('names the library of CUDA that is missing', () => {
    const partly = new Map([...libraries].filter(([name]) => name !== 'libcudnn.so.9'));
    expect(lines({ ...whole, libraries: partly }, null, null)).toContain(
      'WARN CUDA libraries: CUDA 12.5 and cuDNN 9.3 needed, missing libcudnn.so.9',
    );
  });

  it('distinguishes a backend that is not set up, one that fails and one that finds no GPU', () => {
    const last = (...args: Parameters<typeof gpuChecks>): string | undefined => lines(...args).at(-1);
    expect(last(whole, null, null)).toBe('WARN Native backend: not set up, so the GPU is not used');
    const missing: ProbeResult = { ok: false, problem: { kind: 'library-missing', detail: 'libtensorflow_cc.so.2' } };
    expect(last(whole, manifest, missing)).toBe(
      'WARN Native backend: TensorFlow 2.21.0: the library libtensorflow_cc.so.2 is missing',
    );
    expect(
      last(whole, manifest, { ok: false, problem: { kind: 'not-built', detail: '/x/tfjs_binding.node' } }),
    ).toMatch(/the addon was not built \(expected \/x\/tfjs_binding\.node\)/);
    expect(last(whole, manifest, works(false, ['Cannot dlopen some GPU libraries.']))).toBe(
      "WARN Native backend: TensorFlow 2.21.0 works, but doesn't find a GPU: Cannot dlopen some GPU libraries.",
    );
    expect(last(whole, { ...manifest, cuda: false }, works(false))).toMatch(/built without CUDA/);
    expect(last(whole, manifest, works(true))).toBe('OK Native backend: TensorFlow 2.21.0 on the GPU');
  });
});
