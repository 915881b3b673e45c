import { describe, expect, it } from 'vitest';
import { evaluatesAt, evaluationsAfter } from '../../../main/trainer/config/evaluations.ts';

describe('evaluationsAfter', () => {
  it('counts the steps after which a run is evaluated', () => {
    for (const plan of [
      { eval_steps: 3, max_steps: 10, warm_up_steps: 0 },
      { eval_steps: 3, max_steps: 9, warm_up_steps: 0 },
      { eval_steps: 4, max_steps: 7, warm_up_steps: 2 },
      { eval_steps: 50, max_steps: 7, warm_up_steps: 7 },
      { eval_steps: 0, max_steps: 7, warm_up_steps: 2 },
    ]) {
      const last = plan.max_steps + plan.warm_up_steps;
      for (let done = 0; done <= last + 1; done++) {
        const after = Array.from({ length: Math.max(0, last - done) }, (_, i) => done + i + 1);
        expect(evaluationsAfter(done, plan)).toBe(after.filter((step) => evaluatesAt(step, plan)).length);
      }
    }
  });
});
