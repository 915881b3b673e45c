import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildKernels } from '../../main/tensor/kernels/build.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { braid } from './braid.ts';

const folder = temporaryFolderOfFile();
const model = join(folder, 'model');
const bench = (...more: string[]) =>
  braid(['bench', '--model', model, '--prompts', '2', '--group', '2', '--words', '3', ...more]);
beforeAll(async () => {
  buildKernels();
  await writeTinyModel(model);
});

describe('braid bench', () => {
  const few = ['--steps', '3', '--warmup', '1', '--threads', '2'];

  /** Times steps with a reference model, and gives the report. */
  async function timed(mode: string, ...more: string[]) {
    const run = await bench('--mode', mode, '--beta', '0.1', ...few, '--json', ...more);
    expect(run.code, run.stderr).toBe(0);
    const report = JSON.parse(run.stdout);
    expect(report).toMatchObject({ backend: 'wasm', threads: 2 });
    expect(report.min_s).toBeLessThanOrEqual(report.median_s);
    expect(report.median_s).toBeLessThanOrEqual(report.max_s);
    expect(Object.keys(report.phases)).toEqual(['rollout', 'reward', 'loss', 'optimizer']);
    // 2 prompts x 2 completions x exactly 2*3 + 4 tokens.
    expect(report.tokens_per_s * report.median_s).toBeCloseTo(40, 6);
    expect(report.trainable_params === report.params).toBe(mode === 'full');
    return report;
  }

  it('times full steps by phase', async () => {
    expect((await timed('full')).roofline).toBeNull();
  });

  it('times lora steps by phase, and shows where the time goes as JSON', async () => {
    const { roofline } = await timed('lora', '--roofline');
    const names = roofline.phases.map(({ phase }: { phase: string }) => phase);
    expect(names).toEqual(expect.arrayContaining(['rollout', 'loss', 'optimizer', 'between phases']));
    for (const { seconds, kernel_seconds, outside_seconds } of roofline.phases)
      expect(kernel_seconds + outside_seconds).toBeCloseTo(seconds, 6);
    // Each of a step's adapters is multiplied once forward and twice backward, whatever the machine.
    const calls = (op: string) =>
      roofline.ops
        .filter((row: { op: string; phase: string }) => row.op === op && row.phase === 'loss')
        .reduce((sum: number, row: { calls: number }) => sum + row.calls, 0);
    expect(calls('LoraLinearGradAdapter')).toBe(calls('LoraLinear'));
  });

  it('shows where the time goes as a table and as a figure', async () => {
    const svg = join(folder, 'roofline.svg');
    const text = await bench('--steps', '2', '--warmup', '0', '--threads', '2', '--svg', svg);
    expect(text.code, text.stderr).toBe(0);
    expect(text.stdout).toMatch(/Best measured here: [\d.]+ GFLOPS in a large product/);
    expect(text.stdout).toMatch(/^LoraLinear \d+ → \d+ +(rollout|loss)/m);
    expect(readFileSync(svg, 'utf8')).toContain('FLOP per byte');
  });

  it('exits with 130 on Ctrl-C', async () => {
    const run = await braid(['bench', '--model', model, '--steps', '100000', '--prompts', '2'], 3000);
    expect(run.code, run.stderr).toBe(130);
    expect(run.stderr).toContain('Interrupted');
  });

  it('rejects a group of 1, an unknown mode and an unknown precision', async () => {
    const [group, mode, dtype] = await Promise.all([
      bench('--group', '1'),
      bench('--mode', 'half'),
      bench('--base-weights', 'float8'),
    ]);
    expect([group?.code, mode?.code, dtype?.code]).toEqual([2, 2, 2]);
    expect(dtype?.stderr).toContain('Expected --base-weights to be one of auto, float32, bfloat16, int8, nf4, got "fl');
    expect(group?.stderr).toContain('Expected --group to be a whole number of at least 2, got "1"');
    expect(mode?.stderr).toContain('Expected --mode to be full or lora, got "half"');
  });
});
