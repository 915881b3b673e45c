import { describe, expect, it } from 'vitest';
import { openSampledAnswers } from '../../../main/services/reward-trials/sampled-answers.ts';

const answer = { completion: 'hi', tokens: 2, finish: 'stop', fields: {}, line: 1 } as const;

describe('openSampledAnswers', () => {
  it('lists what it keeps of a task, the newest first, with as many completions as there are', () => {
    const sampled = openSampledAnswers();
    const of = { task: 'say', model: 'tiny' };
    const ids = [1, 2].map((count) => sampled.keep(of, Array(count).fill(answer)));
    sampled.keep({ task: 'other', model: 'tiny' }, [answer]);
    const [one, two] = ids.map((id, i) => ({ id, model: 'tiny', completions: i + 1 }));
    expect(sampled.list('say')).toEqual([two, one]);
    expect(sampled.get(two?.id ?? 0)).toHaveLength(2);
    // The newest four of all tasks.
    for (let i = 0; i < 2; i++) sampled.keep({ task: 'other', model: 'tiny' }, [answer]);
    expect(sampled.list('say')).toEqual([two]);
    expect(() => sampled.get(one?.id ?? 0)).toThrow('no longer kept');
  });
});
