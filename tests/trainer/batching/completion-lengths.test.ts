import { describe, expect, it } from 'vitest';
import {
  chooseLimit,
  isLimitOpen,
  lengthsAt,
  type Tried,
  trialLength,
} from '../../../main/trainer/batching/completion-lengths.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';

const ending = (...tokens: number[]): Tried[] => tokens.map((count) => ({ tokens: count, ended: true }));
const endless = (count: number): Tried[] => Array.from({ length: count }, () => ({ tokens: 300, ended: false }));

describe('chooseLimit', () => {
  it.each([
    ["the targets' where few are cut off", [...ending(20, 21, 22), ...endless(1)], 24],
    // 40 and a tenth.
    ['what nine of ten need where many are cut off', ending(20, 20, 30, 31, 32, 33, 34, 35, 40, 200), 44],
    ["the targets' where most never end", [...ending(30), ...endless(2)], 24],
    ["never less than the targets'", [...ending(5, 6), ...endless(2)], 24],
  ])('is %s', (_, tried, limit) => {
    expect(chooseLimit(tried, 24)).toBe(limit);
  });
});

describe('lengthsAt', () => {
  it('counts what a limit cuts off, and tokens up to it', () => {
    expect(lengthsAt(24, [...ending(10, 24, 50), ...endless(1)])).toEqual({ completions: 4, cut: 2, tokens: 20.5 });
  });
});

describe('trialLength', () => {
  it('leaves room beyond the targets, within the context', () => {
    expect([6, 300, 1500].map((limit) => trialLength(limit, 8192))).toEqual([262, 600, 2012]);
    expect(trialLength(300, 400)).toBe(400);
    expect(trialLength(300, 100)).toBe(300);
  });
});

describe('isLimitOpen', () => {
  const plain = { maxCompletionLength: null, show: 'json' } as const;
  const isOpen = (config: object, task: Partial<Parameters<typeof isLimitOpen>[1]> = {}): boolean =>
    isLimitOpen(parseConfig(config), { ...plain, ...task });

  it('is where targets say little of completions, and nobody has set it', () => {
    expect(isOpen({})).toBe(true);
    expect(isOpen({ max_completion_length: 40 })).toBe(false);
    expect(isOpen({}, { maxCompletionLength: 40 })).toBe(false);
  });

  it("isn't where targets are learned, or completions are compared with them word by word", () => {
    expect([isOpen({ method: 'sft' }), isOpen({ warm_up_steps: 5 })]).toEqual([false, false]);
    expect(isOpen({}, { show: 'aligned' })).toBe(false);
  });
});
