import { describe, expect, it } from 'vitest';
import { componentWarnings } from '../../../main/trainer/monitor/component-rule.ts';

const step = (relevance: number) => ({ reward: 0.5, 'rewards/relevance/mean': relevance, 'rewards/length/mean': 1 });
const nothing = Number.NaN;

describe('componentWarnings', () => {
  it('warns once that a component is NaN, and again after a recovery', () => {
    const history = [step(nothing), step(nothing), step(0.5), step(nothing)];
    const counts = history.map((_, i) => componentWarnings(history.slice(0, i + 1)).length);
    expect(counts).toEqual([1, 0, 0, 1]);
    expect(componentWarnings(history)[0]?.message).toBe(
      'The reward component relevance was not a number for any completion, so it is excluded from the reward.',
    );
  });

  it('ignores steps that reuse a generation, and stays silent when all is well', () => {
    expect(componentWarnings([step(nothing), { loss: 1 }, step(nothing)])).toEqual([]);
    expect(componentWarnings([{ loss: 1 }])).toEqual([]);
    expect(componentWarnings([])).toEqual([]);
  });
});
