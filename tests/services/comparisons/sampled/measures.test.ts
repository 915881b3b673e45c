import { describe, expect, it } from 'vitest';
import { measurePrompt, measuresOf } from '../../../../main/services/comparisons/sampled/measures.ts';
import { interleaveTask } from '../../../../main/tasks/interleave/task.ts';
import { replyTask } from '../../../../main/tasks/reply/task.ts';
import type { Task, TaskRecord } from '../../../../main/tasks/task.ts';

const interleave = interleaveTask.parseRecord({
  id: 'r',
  words: 2,
  title_a: 'A',
  title_b: 'B',
  fragment_a: 'one two',
  fragment_b: 'red blue',
  prompt: 'p',
  target: 'one red two blue',
});
const sampled = (...texts: string[]) => texts.map((completion) => ({ completion, tokens: 4, finish: 'stop' }) as const);
const measureAll = <R extends TaskRecord>(task: Task<R>, record: R, ...texts: string[]) => {
  const completions = sampled(...texts);
  return [task, completions, task.measure(completions.map((one) => ({ record, ...one })))] as const;
};
const options = { task: 'interleave', samples: 4, k: [1, 2], threshold: 0.9 } as const;

describe('measurePrompt', () => {
  it('counts passes by the threshold, averages measures, and looks at the set', () => {
    const right = 'one red two blue';
    const all = measureAll(interleaveTask, interleave, right, 'one two red blue', right, '');
    const measured = measurePrompt(...all, options);
    expect(measured['pass@1']).toBeCloseTo(0.5, 12);
    // 1 - C(2,2)/C(4,2)
    expect(measured['pass@2']).toBeCloseTo(5 / 6, 12);
    expect(measured.alignment).toBeCloseTo((1 + 3 / 4 + 1 + 0) / 4, 12);
    expect(measured.exact_match).toBe(0.5);
    expect(measured.distinct_1).toBeCloseTo(4 / 12, 12);
    expect(measured.words).toBe(3);
  });

  it('averages the completions whose reward did not fail', () => {
    const each = [0.4, Number.NaN, 0.8, Number.NaN].map((alignment) => ({ alignment }));
    const four = sampled('one', 'two', 'red', 'blue');
    const { alignment } = measurePrompt(interleaveTask, four, each, options);
    expect(alignment).toBeCloseTo(0.6, 12);
  });

  it('has every row of the table for replies', () => {
    const record = replyTask.parseRecord({
      id: 'r',
      post: 'Tea?',
      reply: 'Yes, tea.',
      engagement: { likes: 1, reposts: 0, replies: 0 },
    });
    const reply = { ...options, task: 'reply' } as const;
    const measured = measurePrompt(...measureAll(replyTask, record, 'Tea, yes.', 'Tea for you?', 'No.', 'Tea.'), reply);
    for (const { name } of measuresOf(reply)) expect(measured[name]).toEqual(expect.any(Number));
    const names = measuresOf(reply).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(measuresOf({ ...reply, samples: 1, k: [1] }).map(({ name }) => name)).not.toContain('self_bleu');
  });
});

describe('measuresOf', () => {
  it("names a direction for a folder task's measures only where one is known", () => {
    const measures = ['reward', 'right', 'length', 'noise', 'success', 'readability', 'failed'];
    const better = {
      reward: 'higher',
      right: 'higher',
      length: 'lower',
      noise: null,
      success: 'higher',
      failed: 'lower',
    } as const;
    const rows = measuresOf({ ...options, task: 'own', measures, better });
    const directions = rows.filter(({ name }) => measures.includes(name)).map((row) => [row.name, row.better]);
    expect(Object.fromEntries(directions)).toEqual({ ...better, readability: null });
  });
});
