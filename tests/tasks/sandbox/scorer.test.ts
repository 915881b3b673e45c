import { describe, expect, it, onTestFinished } from 'vitest';
import { inGroups } from '../../../main/tasks/groups.ts';
import { openScorer, type RewardThread } from '../../../main/tasks/sandbox/scorer.ts';
import { answer, outcome, program, rewardWorker, scoreWith } from './scoring.ts';

const first = (text: string, changes = {}) => outcome(scoreWith(text, ['one two'], changes)[0]);

describe('openScorer', () => {
  it('calls a TypeScript reward with the record, the completion, its tokens and its end, and keeps the order', () => {
    const text = `import { type Answer, words } from 'braid';
export function reward({ record, completion, tokens, finish }: Answer<{ target: string }>): number {
  return words(completion).length + tokens * 10 + (finish === 'stop' ? 100 : 0) + record.id.length * 1000;
}`;
    expect(scoreWith(text, ['', 'one', 'one two']).map(outcome)).toEqual([[1130], [1131], [1132]]);
  });

  it('gives components in the order of task.yaml, exactly as they were computed', () => {
    const text = 'export const reward = () => ({ b: 0.1 + 0.2, a: -1e-300 })';
    expect(first(text, { components: ['a', 'b'] })).toEqual([-1e-300, 0.1 + 0.2]);
  });

  it.each([
    ['a second parameter', '({ completion }, group, place)'],
    ['one with a default', '({ completion }, group = [], place = 0)'],
    ['a rest', '(...[{ completion }, group, place])'],
  ])('gives %s all completions of the prompt, which it may sort', (_, parameters) => {
    const text = `export const reward = ${parameters} =>
  (group[place].completion === completion ? 10 : 0) + group.map((one) => one.completion).sort().indexOf(completion);`;
    const scorer = openScorer(program(text), rewardWorker);
    onTestFinished(() => scorer.close());
    const answers = ['c', 'a', 'b', 'z'].map((completion) => answer(completion));
    const grouped = inGroups(answers, (i) => (i < 3 ? 0 : 1));
    expect(scorer.score('reward', grouped).map(outcome)).toEqual([[12], [10], [11], [10]]);
  });

  it("doesn't send the group to a reward with one parameter", () => {
    expect(first('export function reward(answer) { return arguments.length; }')).toEqual([1]);
  });

  it('calls the check where there is one', () => {
    const text = 'export const reward = () => 1; export const check = ({ completion }) => completion.length';
    const scorer = openScorer(program(text, { hasCheck: true }), rewardWorker);
    expect(scorer.score('check', [answer('abcd')])).toEqual([{ kind: 'numbers', numbers: [4] }]);
    scorer.close();
  });

  it.each([
    ['throws', 'throw 1', 'threw'],
    ['takes too long', 'for (;;);', 'took longer than 300 ms'],
  ])('scores none after the first whose reward %s, if told so', (_, does, reason) => {
    const text = `let calls = 0;
export function reward({ completion }) {
  if (completion !== '') ${does};
  return ++calls;
}`;
    const scorer = openScorer(program(text, { limits: { timeMs: 300, memoryMb: 16 } }), rewardWorker);
    onTestFinished(() => scorer.close());
    const answers = ['', 'bad', '', 'bad'].map((completion) => answer(completion));
    const scored = scorer.score('reward', answers, true).map(outcome);
    expect(scored).toEqual([
      [1],
      expect.stringContaining(reason),
      ...Array(2).fill(expect.stringContaining('not scored')),
    ]);
    // What follows is of the next batch.
    expect(scorer.score('reward', answers).map(outcome)[2]).toEqual([expect.any(Number)]);
  });

  it('takes more completions than calls hold arguments', () => {
    let left = 0;
    const thread: RewardThread = {
      ask: (request) => {
        left = request.call === 'load' ? 0 : request.inputs.length;
      },
      next: () => (left-- > 0 ? { kind: 'numbers', numbers: [1] } : { kind: 'ready' }),
      later: () => Promise.resolve(null),
      fault: () => null,
      end: () => undefined,
    };
    const scorer = openScorer(program('export const reward = () => 1'), () => thread);
    expect(scorer.score('reward', Array(200_000).fill(answer('a')))).toHaveLength(200_000);
  });

  it('forgets between batches what a reward keeps in variables', () => {
    const scorer = openScorer(program('let calls = 0; export const reward = () => ++calls'), rewardWorker);
    const batch = [answer('a'), answer('b')];
    expect(scorer.score('reward', batch).map(outcome)).toEqual([[1], [2]]);
    expect(scorer.score('reward', batch).map(outcome)).toEqual([[1], [2]]);
    scorer.close();
  });

  it('places an error at the line and column of the TypeScript file', () => {
    const text = `type Fields = { answer: string };
export function reward({ record }: { record: Fields }): number {
  const missing: Fields | undefined = undefined;
  return (missing as unknown as Fields).answer.length;
}`;
    expect(first(text)).toBe("reward.ts:4:40: TypeError: cannot read property 'answer' of undefined");
  });

  it.each([
    ['NaN', 'export const reward = () => 0 / 0', 'expected reward to give a finite number, got NaN'],
    ['a number beyond float32', 'export const reward = () => -Number.MAX_VALUE', 'a number within ±3.4e38'],
    ['Infinity', 'export const reward = () => 1 / 0', 'got Infinity'],
    ['a text', "export const reward = () => '1'", 'reward gave a text; expected a number'],
    ['nothing', 'export const reward = () => undefined', 'reward gave nothing'],
    ['null', 'export const reward = () => null', 'reward gave nothing'],
    ['a promise', 'export const reward = async () => 1', 'it must not be async'],
    ['a component too many', 'export const reward = () => ({ rewrd: 1 })', 'did you mean "reward"?'],
    ['a component too few', 'export const reward = () => ({})', 'a finite number, got none'],
    ['what was thrown', "export const reward = () => { throw 'no' }", 'threw "no"'],
    ['chance', 'export const reward = () => Math.random()', 'Math.random is not available'],
  ])('marks %s as a failure', (_, text, reason) => {
    expect(first(text)).toContain(reason);
  });

  it.each([
    ['a syntax error', 'export const reward = (x: ) => 1', 'reward.ts:1:27: '],
    ['TypeScript that is more than types', 'enum A { B }\nexport const reward = () => 1', 'reward.ts:1:1: '],
    ['no reward', 'export const rewards = () => 1', 'expected an exported function "reward"'],
    ['a misspelt function', 'export const rewrd = () => 1', '; it exports "rewrd": did you mean "reward"?'],
    [
      'a misspelt import',
      "import { json, wrds } from 'braid';\nexport const reward = () => wrds('').length;",
      'reward.ts:1:16: \'braid\' has no "wrds"; did you mean "words"?',
    ],
    [
      'another import',
      "import fs from 'node:fs';\nexport const reward = () => 1",
      "reward.ts:1:11: a reward can import from 'braid' only, got 'node:fs'",
    ],
    [
      'a file beside it',
      "\nimport { x } from './own.ts';\nexport const reward = () => x",
      "reward.ts:2:14: a reward can import from 'braid' only, got './own.ts'",
    ],
    ['an error at its start', 'null.x;\nexport const reward = () => 1', 'reward.ts:1:5: TypeError'],
    ['an endless start', 'for (;;);\nexport const reward = () => 1', 'took longer than 1100 ms'],
  ])('refuses a file with %s before the first completion', (_, text, reason) => {
    const scorer = openScorer(program(text, { limits: { timeMs: 100, memoryMb: 16 } }), rewardWorker);
    expect(() => scorer.score('reward', [])).toThrow(reason);
    scorer.close();
  });

  it('scores the others when one hangs where QuickJS itself cannot end it', () => {
    const text = `export const reward = ({ completion }) =>
  completion === 'bad' ? Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1) : 7;`;
    const scored = scoreWith(text, ['a', 'bad', 'b'], { limits: { timeMs: 50, memoryMb: 16 } }).map(outcome);
    expect(scored).toEqual([[7], expect.stringContaining('was ended'), [7]]);
  });
});
