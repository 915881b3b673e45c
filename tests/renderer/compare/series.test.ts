import { describe, expect, it } from 'vitest';
import type { ComparedModel } from '../../../main/services/comparisons/paired/view.ts';
import { stepSeries } from '../../../renderer/compare/series.ts';

const compared = (reference: string, mean: number | null): ComparedModel =>
  ({
    reference,
    name: reference,
    summary: mean === null ? null : { mean_alignment: mean, low: mean - 0.1, high: mean + 0.1 },
  }) as ComparedModel;
const entry = (ref: string, run: string, step: number, id = 1) => ({ ref, run: { id, name: run }, step });

describe('stepSeries', () => {
  it('draws the checkpoints of one run by step, with their intervals', () => {
    const models = [
      compared('base', 0.5),
      compared('c2', 0.9),
      compared('c1', 0.7),
      compared('c3', null),
      compared('d1', 0.6),
    ];
    const entries = [
      entry('c1', 'run', 10),
      entry('c2', 'run', 20),
      entry('c3', 'run', 30),
      entry('d1', 'other', 5, 2),
    ];
    expect(stepSeries(models, entries)).toMatchObject([
      { label: 'run', x: [10, 20], y: [0.7, 0.9], low: [expect.closeTo(0.6), 0.8], high: [expect.closeTo(0.8), 1] },
    ]);
  });

  it('draws two runs of the same name as two curves, with their numbers', () => {
    const models = [compared('c1', 0.7), compared('c2', 0.9), compared('d1', 0.4), compared('d2', 0.5)];
    const entries = [
      ...[entry('c1', 'run', 10), entry('c2', 'run', 20)],
      ...[entry('d1', 'run', 10, 2), entry('d2', 'run', 20, 2)],
    ];
    expect(stepSeries(models, entries)).toMatchObject([
      { id: 'run-1', label: 'run (run 1)', x: [10, 20], y: [0.7, 0.9] },
      { id: 'run-2', label: 'run (run 2)', x: [10, 20], y: [0.4, 0.5] },
    ]);
  });

  it('draws nothing for whole models', () => {
    expect(stepSeries([compared('base', 0.5)], [])).toEqual([]);
  });
});
