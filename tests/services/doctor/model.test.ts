import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { modelCheck } from '../../../main/services/doctor/model.ts';
import { deviceBudget } from '../../../main/trainer/memory/budget.ts';
import { planModel } from '../../../main/trainer/memory/model-plan.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../temporary-folder.ts';

const folder = temporaryFolderOfFile();
// Llama-3.2-3B's shape.
const shape = { hidden_size: 3072, intermediate_size: 8192, num_hidden_layers: 28, head_dim: 128, vocab_size: 128256 };
const heads = { num_attention_heads: 24, num_key_value_heads: 8, rope_theta: 500000, tie_word_embeddings: true };
const more = { model_type: 'llama', max_position_embeddings: 131072, rms_norm_eps: 1e-5, eos_token_id: 2 };
const config = { ...shape, ...heads, ...more };
writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
for (const name of ['tokenizer.json', 'model.safetensors']) writeFileSync(join(folder, name), '');

const GIB = 2 ** 30;
const native = (gib: number) => deviceBudget('native', gib * GIB);

describe('planModel', () => {
  it('keeps float32 weights where they fit, else 16 bits, and says which stages fit', () => {
    const [small, large] = [planModel(folder, native(12)), planModel(folder, native(48))];
    expect([small.weightBytes, large.weightBytes]).toEqual([2, 4]);
    expect(large.stages.every(({ fits }) => fits)).toBe(true);
    expect(small.stages.map(({ words }) => words)).toEqual([10, 25, 50, 100, 200, 500]);
    expect(small.stages[0]).toMatchObject({ fits: true });
  });

  it('knows the heap of the wasm backend', () => {
    const plan = planModel(folder, deviceBudget('wasm', 48 * GIB));
    expect(plan).toMatchObject({ weightBytes: 2, budget: 4.25 * GIB - 6 * 2 ** 20 });
    expect(plan.stages.some(({ fits }) => fits)).toBe(false);
    expect(modelCheck(plan)).toMatchObject({
      status: 'WARN',
      next: expect.stringContaining('set up the native one in Settings'),
    });
  });

  it("keeps to the user's bound of activations, as runs do", () => {
    const bounded = planModel(folder, deviceBudget('native', 48 * GIB, 256)).stages;
    expect(planModel(folder, native(48)).stages.at(-1)?.trained).toBeGreaterThan(1);
    expect(bounded.at(-1)?.trained).toBe(1);
    expect(bounded[0]?.activations).toBeLessThanOrEqual(256 * 2 ** 20);
  });

  it('plans for all weights too, and for records that it is given', () => {
    const lengths = { promptTokens: 900, completionTokens: 60 };
    const { stages, full, records } = planModel(folder, native(96), lengths);
    const weights = 3.2e9 * 4;
    expect(full[0]?.optimiser).toBeGreaterThan(3 * weights);
    expect(full[0]?.weights).toBe(stages[0]?.weights);
    expect(records).toMatchObject({ ...lengths, lora: { fits: true }, full: { optimiser: full[0]?.optimiser } });
    expect(planModel(folder, native(96))).not.toHaveProperty('records');
  });

  it('refuses what no run could load', () => {
    const other = temporaryFolder();
    writeFileSync(join(other, 'config.json'), JSON.stringify(config));
    writeFileSync(join(other, 'model.safetensors'), '');
    expect(() => planModel(other, native(48))).toThrow('the file tokenizer.json is missing');
    writeFileSync(
      join(other, 'config.json'),
      JSON.stringify({ ...config, quantization_config: { quant_method: 'hqq' } }),
    );
    expect(() => planModel(other, native(48))).toThrow('hqq');
  });

  it('puts it in one line', () => {
    expect(modelCheck(planModel(folder, native(48)))).toMatchObject({
      status: 'OK',
      detail: '3213 M parameters, 48.0 GiB: every stage fits',
    });
    expect(modelCheck(planModel(folder, native(4)))).toMatchObject({
      status: 'WARN',
      detail: expect.stringMatching(/4\.0 GiB: needs at least \d+\.\d GiB/),
    });
    expect(modelCheck(planModel(folder, native(12))).detail).toMatch(/stages? (to \d+ words )?fits?.*16 bits/);
  });
});
