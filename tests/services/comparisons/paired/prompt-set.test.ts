import { describe, expect, it } from 'vitest';
import { freezePrompts } from '../../../../main/services/comparisons/paired/prompt-set.ts';
import { errorOf, temporaryStore } from '../../../store/helpers.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

describe('freezePrompts', () => {
  const place = () => ({ store: temporaryStore(), paths: { resources: temporaryFolder() } });
  const choose = (datasetIds: readonly number[]) => ({ datasetIds, n: 4, seed: 1 });

  it('rejects datasets of several tasks: models are compared by one measure', () => {
    const at = place();
    const [first = 0, second = 0] = ['interleave', 'sums'].map((task) =>
      at.store.datasets.record({
        ...{ name: task, file: `/none/${task}.jsonl`, task, words: null, template: null, textHash: null },
        trainN: 1,
        testN: 1,
        seed: 1,
        leakage: null,
      }),
    );
    expect(errorOf(() => freezePrompts(at, choose([first, second])))).toMatchObject({
      code: 'MIXED_TASKS',
      message: 'Expected datasets of one task, got interleave and sums',
    });
  });

  it('rejects a dataset that is not there', () => {
    expect(errorOf(() => freezePrompts(place(), choose([7])))).toMatchObject({ code: 'DATASET_UNKNOWN' });
  });
});
