import { describe, expect, it } from 'vitest';
import { emptyForm } from '../../../renderer/playground/form.ts';
import { type Asked, readHistory, withAsked } from '../../../renderer/playground/history.ts';
import { endedScores, meanScore } from '../../../renderer/playground/samples.ts';
import type { Lane } from '../../../renderer/playground/use-answers.ts';

const asked = (at: number, a: string): Asked => ({ at, form: { ...emptyForm, a }, scores: [0.5, null] });

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
