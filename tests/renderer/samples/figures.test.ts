import { describe, expect, it } from 'vitest';
import { shownColumns } from '../../../main/samples/sample.ts';
import { figuresOf } from '../../../renderer/samples/figures.ts';

const sample = {
  runId: 1,
  step: 1,
  group: 0,
  index: 0,
  recordId: 'r',
  reward: 1,
  advantage: 0.25,
  components: {},
  length: 1200,
  terminated: true,
  failure: null,
};

describe('figuresOf', () => {
  it('says each of the columns that pages show, with its sign or its noun', () => {
    expect(figuresOf(shownColumns, sample)).toEqual([
      { name: 'advantage', text: 'adv +0.250', title: 'Advantage: how much better than its group' },
      { name: 'length', text: '1,200 tokens' },
    ]);
  });

  it('leaves out what the sample does not have, and puts a unit behind a number', () => {
    const columns = [...shownColumns, { name: 'reward', kind: 'number', label: 'after', unit: 'ms' } as const];
    const texts = figuresOf(columns, { ...sample, advantage: Number.NaN, reward: 0.12345 }).map(({ text }) => text);
    expect(texts).toEqual(['1,200 tokens', 'after 0.123 ms']);
  });
});
