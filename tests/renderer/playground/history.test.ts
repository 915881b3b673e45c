import { describe, expect, it } from 'vitest';
import { emptyForm } from '../../../renderer/playground/form.ts';
import { type Asked, answersOf, lanesOf, readHistory, withAsked } from '../../../renderer/playground/history.ts';
import { endedScores, meanScore } from '../../../renderer/playground/samples.ts';
import type { Lane } from '../../../renderer/playground/use-answers.ts';

const asked = (at: number, a: string, answers: Asked['answers'] = []): Asked => ({
  at,
  form: { ...emptyForm, a },
  scores: [0.5, null],
  answers,
});

const counts = { match: 1, wrong: 0, missing: 0, extra: 0 };
const answer = (text: string, ended = true) =>
  ({
    kind: 'texts',
    text,
    tokens: 2,
    alignment: { score: 1, words: [], counts, firstError: null },
    end: ended ? { terminated: true, promptTokens: 3, seconds: 1, backend: 'wasm', askedAs: null } : null,
  }) as unknown as Asked['answers'][number][number];

describe('withAsked', () => {
  it('puts the newest first, and the same question only once', () => {
    const history = [asked(1, 'one'), asked(2, 'two'), asked(3, 'one')].reduce<readonly Asked[]>(withAsked, []);
    expect(history.map(({ at }) => at)).toEqual([3, 2]);
  });

  it('keeps twenty', () => {
    const many = Array.from({ length: 25 }, (_, i) => asked(i, `text ${i}`)).reduce<readonly Asked[]>(withAsked, []);
    expect(many).toHaveLength(20);
    expect(many[0]?.at).toBe(24);
  });
});

describe('the answers of an entry', () => {
  const lanes = (...answers: readonly Asked['answers'][number][number][]): (Lane | null)[] => [
    { model: '', state: 'done', answers, error: null },
    null,
  ];

  it('are shown again as they were, also after a reload', () => {
    const answers = answersOf(lanes(answer('one'), answer('two'), answer('cut', false)));
    const [read] = readHistory(JSON.stringify([asked(1, 'a', answers)]));
    expect(read && lanesOf(read)).toEqual(lanes(answer('one'), answer('two')));
  });

  it('are dropped from the oldest on where they take too much, and the questions stay', () => {
    const long = [[answer('x'.repeat(400_000))]];
    const history = [1, 2, 3].map((at) => asked(at, `${at}`, long)).reduce<readonly Asked[]>(withAsked, []);
    expect(history.map(({ at, answers }) => [at, answers.length])).toEqual([
      [3, 1],
      [2, 1],
      [1, 0],
    ]);
    expect(lanesOf(asked(1, 'a'))).toEqual([null, null]);
  });

  it('are left out where they are not what is shown now', () => {
    const other = [[{ kind: 'texts', text: 'without alignment', end: {} }]];
    const stored = JSON.stringify([{ ...asked(1, 'a'), answers: other }]);
    expect(readHistory(stored)).toEqual([asked(1, 'a')]);
  });
});

describe('readHistory', () => {
  it('reads what was stored, and leaves out what is not an entry', () => {
    expect(readHistory(JSON.stringify([asked(1, 'one'), { at: 'never' }]))).toEqual([asked(1, 'one')]);
    for (const stored of [null, 'no json', '{}']) expect(readHistory(stored)).toEqual([]);
  });
});

describe('meanScore', () => {
  const answer = (score: number, ended: boolean) => ({ kind: 'texts', alignment: { score }, end: ended ? {} : null });
  const lane = { answers: [answer(1, true), answer(0.5, true), answer(0, false)] } as unknown as Lane;

  it('is over the samples that have ended', () => {
    expect(endedScores(lane)).toEqual([1, 0.5]);
    expect(meanScore(lane)).toBe(0.75);
    expect(meanScore(null)).toBeNull();
  });

  it("is over rewards for a task's record, without those that failed", () => {
    const played = [{ reward: 0.5 }, { reward: null }, null].map((end) => ({ kind: 'record', end }));
    expect(endedScores({ answers: played } as unknown as Lane)).toEqual([0.5]);
  });
});
