import { describe, expect, it } from 'vitest';
import { openTask } from '../../../main/tasks/index.ts';

const task = openTask('interleave', '');
const record = task.parseRecord({
  id: 'r',
  words: 2,
  title_a: 'A',
  title_b: 'B',
  fragment_a: 'one two',
  fragment_b: 'red blue',
  prompt: 'p',
  target: 'one red two blue',
});

const answer = (completion: string) => ({ record, completion, tokens: 0, finish: 'stop' }) as const;

describe('interleaveTask', () => {
  it('rewards the reference with 1, one text after the other with less, nothing with 0', () => {
    expect(task.rewardNames).toEqual(['alignment']);
    const scores = task.score([answer(task.target(record)), answer('one two red blue'), answer('')]);
    expect(scores.map(({ components }) => components.alignment)).toEqual([1, 3 / 4, 0]);
    expect(scores.every(({ failure }) => failure === null)).toBe(true);
  });

  it('measures its main metric among others', () => {
    expect(Object.keys(task.measure([answer('one')])[0] ?? {})).toContain(task.mainMetric);
  });
});

describe('openTask', () => {
  it('opens no other native task', () => {
    expect(() => openTask('weave', '')).toThrow('Expected a native task (interleave, reply), got "weave"');
  });
});
