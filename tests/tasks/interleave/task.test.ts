import { describe, expect, it } from 'vitest';
import { taskByName } from '../../../main/tasks/index.ts';

const task = taskByName('interleave');
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

describe('interleaveTask', () => {
  it('rewards the reference with 1, one text after the other with less, nothing with 0', () => {
    expect(task.rewardNames).toEqual(['alignment']);
    expect(task.reward(record, task.reference(record))).toEqual({ alignment: 1 });
    expect(task.reward(record, 'one two red blue')).toEqual({ alignment: 3 / 4 });
    expect(task.reward(record, '')).toEqual({ alignment: 0 });
  });

  it('measures its main metric among others', () => {
    expect(Object.keys(task.measure(record, 'one'))).toContain(task.mainMetric);
  });
});

describe('taskByName', () => {
  it('rejects an unknown name', () => {
    expect(() => taskByName('weave')).toThrow('Expected "task" to be one of interleave, reply, got "weave"');
  });
});
