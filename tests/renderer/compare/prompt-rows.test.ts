import { describe, expect, it } from 'vitest';
import type { PromptRow } from '../../../main/services/comparisons/paired/index.ts';
import { chooseRows, gainsOf, type RowChoice } from '../../../renderer/compare/prompt-rows.ts';

function row(
  id: string,
  before: number | null,
  after: number | null,
  titles: [string, string] = ['A', 'B'],
): PromptRow {
  return { id, words: 10, titles, scores: [before, after], exact: [before === 1, after === 1] };
}

const rows = [
  row('same', 0.5, 0.5),
  row('worse', 1, 0.2),
  row('better', 0.5, 1, ['Rain', 'Fog']),
  row('open', 0.5, null),
];

const choice: RowChoice = { position: 1, filter: 'all', order: 'dataset', search: '', gains: null };
const ids = (change: Partial<RowChoice>): string[] => chooseRows(rows, { ...choice, ...change }).map(({ id }) => id);

describe('chooseRows', () => {
  it.each([
    ['gain', ['better', 'same', 'worse', 'open']],
    ['loss', ['worse', 'same', 'better', 'open']],
    ['score', ['worse', 'same', 'better', 'open']],
    ['baseline', ['same', 'better', 'open', 'worse']],
    ['dataset', ['same', 'worse', 'better', 'open']],
  ] as const)('orders by %s, unanswered prompts last', (order, expected) => {
    expect(ids({ order })).toEqual(expected);
  });

  it.each([
    ['wins', ['better']],
    ['ties', ['same']],
    ['losses', ['worse']],
    ['newly exact', ['better']],
    ['no longer exact', ['worse']],
  ] as const)('keeps %s only', (filter, expected) => {
    expect(ids({ filter })).toEqual(expected);
  });

  it('searches ids and titles in any case', () => {
    expect(ids({ search: ' fog' })).toEqual(['better']);
    expect(ids({ search: 'OPEN' })).toEqual(['open']);
  });

  it('keeps the gains of one bar, its lower end included', () => {
    expect(ids({ gains: { from: 0, to: 0.5 } })).toEqual(['same']);
    expect(ids({ gains: { from: 0.5, to: Number.POSITIVE_INFINITY } })).toEqual(['better']);
  });
});

describe('gainsOf', () => {
  it('leaves out unanswered prompts', () => {
    expect(gainsOf(rows, 1)).toEqual([0, -0.8, 0.5]);
  });
});
