import { describe, expect, it } from 'vitest';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { openTiny, type TinyRun, tinyRun } from './tiny-run.ts';

const { model } = await openTiny();

const steady: Partial<TrainConfig> = { learning_rate: 0.01, lr_scheduler_type: 'constant' };

/** Two words of three: easy enough to learn in seconds. */
const records = tinyDataset({ words: 1, train: 6, test: 2, vocabulary: 3 }).train;

const mean = (run: TinyRun, name: string, from: number, to?: number): number => {
  const values = run.steps.slice(from, to).map((metrics) => metrics[name] ?? Number.NaN);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
};

describe('learning in seconds', () => {
  it('lowers the loss by supervised steps, and raises the reward by GRPO from there', async () => {
    const warm = await tinyRun({
      model,
      records,
      config: { method: 'sft', use_peft: false, max_steps: 30, ...steady },
    });
    expect(mean(warm, 'loss', -5)).toBeLessThan(0.6 * mean(warm, 'loss', 0, 3));

    for (const use_peft of [false, true]) {
      const config: Partial<TrainConfig> = {
        ...steady,
        use_peft,
        max_steps: 50,
        per_device_train_batch_size: 32,
        num_generations: 8,
        lora_r: 8,
        lora_alpha: 16,
      };
      const learned = await tinyRun({ model: warm.checkpoint, records, config });
      const [before, after] = [mean(learned, 'reward', 0, 3), mean(learned, 'reward', -5)];
      expect(before).toBeLessThan(0.8);

      expect(after).toBeGreaterThan(before + 0.1);
    }
  });
});
