import { describe, expect, it } from 'vitest';
import { componentWarnings } from '../../main/trainer/component-rule.ts';

const step = (relevance: number) => ({ reward: 0.5, 'rewards/relevance/mean': relevance, 'rewards/length/mean': 1 });
const nothing = Number.NaN;

describe('componentWarnings', () => {
  it('says once that a component gives no number, and again when it stops anew', () => {
    const history = [step(nothing), step(nothing), step(0.5), step(nothing)];
    const counts = history.map((_, i) => componentWarnings(history.slice(0, i + 1)).length);
    expect(counts).toEqual([1, 0, 0, 1]);
    expect(componentWarnings(history)[0]?.message).toBe(
      'The reward component relevance gave no number for any completion; it is left out of the reward.',
    );
  });

  it('looks past steps that reuse a generation, and keeps quiet where all is well', () => {
    expect(componentWarnings([step(nothing), { loss: 1 }, step(nothing)])).toEqual([]);
    expect(componentWarnings([{ loss: 1 }])).toEqual([]);
    expect(componentWarnings([])).toEqual([]);
  });
});
