import { describe, expect, it } from 'vitest';
import { groupOf, inGroups } from '../../main/tasks/groups.ts';
import { answer } from './sandbox/scoring.ts';

describe('inGroups', () => {
  it('gives each answer all of its group, in order, in one list, and keeps the order of the answers', () => {
    const answers = ['a', 'b', 'c', 'd', 'e'].map((completion) => answer(completion));
    const grouped = inGroups(answers, (i) => i % 2);
    expect(grouped.map(({ completion }) => completion)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(grouped.map(({ group }) => group?.place)).toEqual([0, 0, 1, 1, 2]);
    expect(grouped[3]?.group?.completions.map(({ completion }) => completion)).toEqual(['b', 'd']);
    expect(grouped[4]?.group?.completions).toBe(grouped[0]?.group?.completions);
  });

  it('leaves out what the environment noted in messages', () => {
    const messages = [{ role: 'user', content: 'Hi', outcome: 'failed' }] as const;
    const [one] = inGroups([{ ...answer('a'), messages } as never], () => 0);
    expect(one?.group?.completions[0]?.messages).toEqual([{ role: 'user', content: 'Hi' }]);
  });
});

describe('groupOf', () => {
  it('is the answer alone where nobody has grouped it', () => {
    expect(groupOf(answer('a'))).toEqual({ completions: [{ completion: 'a', tokens: 3, finish: 'stop' }], place: 0 });
  });
});
