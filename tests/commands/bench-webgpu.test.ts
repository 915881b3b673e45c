import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { openGpuForTest } from '../tensor/webgpu/open.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { braid } from './braid.ts';

const gpu = await openGpuForTest();
const timed = gpu?.gpu.adapter.features.includes('timestamp-query') === true;
await gpu?.gpu.close();

const size = ['--prompts', '2', '--group', '2', '--words', '3', '--steps', '2', '--warmup', '1', '--json'];

describe.runIf(gpu !== null)('braid bench --backend webgpu --roofline', () => {
  it.runIf(timed)("times each op by the GPU's clock, and decoding by its programs", async () => {
    const model = join(temporaryFolder(), 'model');
    await writeTinyModel(model);
    const run = await braid(['bench', '--model', model, ...size, '--roofline', '--backend', 'webgpu']);
    expect(run.code, run.stderr).toBe(0);
    const { roofline, backend } = JSON.parse(run.stdout);
    expect(backend).toBe('webgpu');
    const rows = roofline.ops as { op: string; phase: string; calls: number; seconds: number; threads_busy: null }[];
    for (const { seconds, threads_busy } of rows) expect([seconds >= 0, threads_busy]).toEqual([true, null]);
    // Dispatches of a phase can't take longer than the phase, which waits for them.
    for (const { phase, seconds, kernel_seconds } of roofline.phases)
      expect(kernel_seconds, phase).toBeLessThanOrEqual(seconds);
    const calls = (op: string): number =>
      rows.filter((row) => row.op === op && row.phase === 'loss').reduce((sum, row) => sum + row.calls, 0);
    expect(calls('LoraLinear')).toBeGreaterThan(0);
    expect(calls('LoraLinearGradAdapter')).toBe(calls('LoraLinear'));
    expect(rows.filter(({ phase }) => phase === 'rollout').map(({ op }) => op)).toContainEqual(
      expect.stringMatching(/^Decoding .*swiglu/),
    );
  });
});
