import { describe, expect, it } from 'vitest';
import { type TrialEvidence, trialCriteria } from '../../../main/services/recipes/trial-criteria.ts';

const done = { state: 'done', error: null } as const;
const curve = (from: number, to: number): number[] =>
  Array.from({ length: 30 }, (_, i) => from + ((to - from) * i) / 29);
const sample = (completion: string, terminated = true) => ({ completion, terminated });
const good: TrialEvidence = {
  outcomes: [done, done],
  sft: curve(3, 1),
  grpo: curve(0.4, 0.6),
  samples: [sample('That is good news!'), sample('How did you do it?')],
};
const failed = (changes: Partial<TrialEvidence>): string[] =>
  trialCriteria({ ...good, ...changes }).flatMap(({ ok, name }) => (ok ? [] : [name]));

describe('trialCriteria', () => {
  it('passes a run that learns and speaks', () => {
    expect(failed({})).toEqual([]);
  });

  it('fails what failed, alone', () => {
    expect(failed({ outcomes: [done] })).toEqual(['completes']);
    expect(failed({ outcomes: [done, { state: 'stopped', error: null }] })).toEqual(['completes']);
    expect(failed({ sft: curve(1, 1.2) })).toEqual(['loss_falls']);
    expect(failed({ grpo: curve(0.5, 0.5) })).toEqual(['reward_rises']);
    // Thirds of one step have no spread: any rise would pass.
    expect(failed({ grpo: [0.5, 0.4, 0.4, 0.4, 0.51] })).toEqual(['reward_rises']);
    expect(failed({ samples: [sample('a b c', false), sample('One good reply.')] })).toEqual([
      'generations_reasonable',
    ]);
    expect(failed({ samples: [sample('so good so good so good so good'), sample('')] })).toEqual([
      'generations_reasonable',
    ]);
    expect(failed({ samples: [sample('Always this.'), sample('Always this.')] })).toEqual(['generations_reasonable']);
    expect(failed({ samples: [] })).toEqual(['generations_reasonable']);
  });
});
