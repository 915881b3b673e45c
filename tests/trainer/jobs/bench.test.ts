import { describe, expect, it } from 'vitest';
import { parseInterleaveRecord } from '../../../main/tasks/interleave/record.ts';
import { interleaveTask } from '../../../main/tasks/interleave/task.ts';
import { spread } from '../../../main/trainer/jobs/bench.ts';

describe('the task of the bench', () => {
  it('gives equal completions unequal rewards, also once it is fitted to the records', () => {
    const record = parseInterleaveRecord({
      id: '1',
      words: 2,
      title_a: 'A',
      title_b: 'B',
      fragment_a: 'one two',
      fragment_b: 'three four',
      prompt: 'Interleave.',
      target: 'one three two four',
    });
    const task = spread(interleaveTask).fit([record]);
    const answers = ['five', 'five', 'five'].map((completion) => ({
      record,
      completion,
      tokens: 1,
      finish: 'stop' as const,
    }));
    expect(task.score(answers).map(({ components }) => components.alignment)).toEqual([0, 1, 0]);
  });
});
