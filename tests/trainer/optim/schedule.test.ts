import { describe, expect, it } from 'vitest';
import { learningRate, type ScheduleConfig } from '../../../main/trainer/optim/schedule.ts';

const config: ScheduleConfig = { learning_rate: 2, lr_scheduler_type: 'linear', warmup_steps: 0, max_steps: 10 };
const rates = (change: Partial<ScheduleConfig>, steps: readonly number[]): readonly number[] =>
  steps.map((step) => learningRate({ ...config, ...change }, step));

describe('learningRate', () => {
  it('falls linearly to 0 just after the last step', () => {
    expect(rates({}, [0, 1, 5, 9, 10, 11])).toEqual([2, 1.8, 1, 0.2, 0, 0]);
  });

  it('rises from 0 during warm-up, then falls over the rest', () => {
    expect(rates({ warmup_steps: 2 }, [0, 1, 2, 6, 10])).toEqual([0, 1, 2, 1, 0]);
  });

  it('follows half a cosine', () => {
    const cosine = rates({ lr_scheduler_type: 'cosine', warmup_steps: 2 }, [1, 2, 4, 6, 10]);
    [1, 2, 1 + Math.SQRT1_2, 1, 0].forEach((value, i) => {
      expect(cosine[i]).toBeCloseTo(value, 12);
    });
  });

  it('stays constant, with warm-up only where the name says so', () => {
    expect(rates({ lr_scheduler_type: 'constant', warmup_steps: 4 }, [0, 3, 100])).toEqual([2, 2, 2]);
    expect(rates({ lr_scheduler_type: 'constant_with_warmup', warmup_steps: 4 }, [0, 3, 4, 100])).toEqual([
      0, 1.5, 2, 2,
    ]);
  });
});
