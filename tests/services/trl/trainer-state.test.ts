import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTrainerState, STATE_FILE } from '../../../main/services/trl/trainer-state.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

function read(...log_history: object[]) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, STATE_FILE), JSON.stringify({ global_step: 5, max_steps: 5, log_history }));
  const { steps, evaluations } = readTrainerState(folder);
  return { steps, evaluations };
}

describe('readTrainerState', () => {
  it('has one pass where a run went back to an earlier step: what it gave up is gone, evaluations too', () => {
    const first = [1, 2, 3, 4].map((step) => ({ step, epoch: step / 5, loss: step, kl: 0.5 }));
    const evaluated = { step: 4, epoch: 0.8, eval_loss: 1 };
    const again = [3, 4, 5].map((step) => ({ step, epoch: step / 5, loss: 10 * step }));
    const { steps, evaluations } = read(...first, evaluated, ...again, { step: 5, eval_loss: 2 });
    expect(steps.map(({ step, metrics }) => [step, metrics.loss, metrics.kl])).toEqual([
      [1, 1, 0.5],
      [2, 2, 0.5],
      [3, 30, undefined],
      [4, 40, undefined],
      [5, 50, undefined],
    ]);
    expect(evaluations).toEqual([{ step: 5, metrics: { eval_loss: 2 } }]);
  });

  it('takes the later entry of a step that was repeated alone, and joins those that log different things', () => {
    const { steps, evaluations } = read(
      { step: 1, epoch: 0.2, loss: 1, kl: 0.5 },
      { step: 1, epoch: 0.2, loss: 2 },
      { step: 1, epoch: 0.2, own: 7 },
      { step: 1, epoch: 0.2, eval_loss: 3 },
      { step: 2, loss: 4 },
    );
    expect(steps).toEqual([
      { step: 1, metrics: { epoch: 0.2, loss: 2, own: 7 } },
      { step: 2, metrics: { loss: 4 } },
    ]);
    expect(evaluations).toEqual([{ step: 1, metrics: { epoch: 0.2, eval_loss: 3 } }]);
  });
});
