import { describe, expect, it } from 'vitest';
import type { RunRowView } from '../../../renderer/runs/run-rows.ts';
import { plotData } from '../../../renderer/runs/settings-plot.ts';

describe('plotData', () => {
  it('has an axis for each setting that differs, then the result', () => {
    const rows = [
      { id: 1, name: 'a', heldOut: 0.5, gain: 0.1 },
      { id: 2, name: 'b', heldOut: null, gain: null },
      { id: 3, name: 'gone', heldOut: 1, gain: 1 },
    ] as unknown as readonly RunRowView[];
    const settings = {
      fields: ['learning_rate', 'eval_dataset', 'method'],
      values: { 1: [1e-4, 'x.jsonl', 'grpo'], 2: [2e-4, 'y.jsonl', 'sft'] },
    };
    expect(plotData(rows, settings, 'heldOut')).toEqual({
      axes: ['learning_rate', 'method', 'Held-out score'],
      rows: [
        { id: 1, name: 'a', values: [1e-4, 'grpo', 0.5] },
        { id: 2, name: 'b', values: [2e-4, 'sft', null] },
      ],
    });
    expect(plotData(rows, settings, 'gain').rows[0]?.values.at(-1)).toBe(0.1);
  });
});
