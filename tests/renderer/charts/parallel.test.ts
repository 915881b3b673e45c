import { describe, expect, it } from 'vitest';
import { axisOf, brushed, endText, movedEnd, nameLines, tickText } from '../../../renderer/charts/parallel.ts';

describe('axisOf', () => {
  it('spaces orders of magnitude evenly', () => {
    const { place, ticks } = axisOf('learning_rate', [1e-6, 1e-4, 1e-2]);
    expect(place(1e-4)).toBeCloseTo(0.5, 9);
    expect(ticks.map(({ label }) => label)).toEqual(['1e-6', '1e-4', '0.01']);
  });

  it('is linear for close numbers, and in the middle for one', () => {
    const { place } = axisOf('lora_r', [4, 8, 12]);
    expect([place(4), place(8), place(12)].map((at) => Number(at?.toFixed(2)))).toEqual([0.04, 0.5, 0.96]);
    expect(axisOf('seed', [42]).place(42)).toBe(0.5);
  });

  it('places words and missing values as categories, numbers without a value nowhere', () => {
    const { place, ticks } = axisOf('method', ['grpo', 'sft', null]);
    expect([place('grpo'), place('sft'), place(null)]).toEqual([0.04, 0.5, expect.closeTo(0.96, 9)]);
    expect(ticks.at(-1)?.label).toBe('none');
    expect(axisOf('score', [0.1, 0.9, null]).place(null)).toBeNull();
  });

  it('leaves out labels that would overlap', () => {
    expect(axisOf('score', [0.5, 0.501, 0.502, 0.9]).ticks.map(({ label }) => label)).toEqual(['0.5', '0.9']);
  });
});

describe('brushed', () => {
  const values = [
    [1, 0.2],
    [2, 0.9],
    [3, null],
  ] as const;
  const rows = values.map((row, id) => ({ id, name: `run ${id}`, values: row }));
  const axes = [axisOf('x', [1, 2, 3]), axisOf('score', [0.2, 0.9, null])];

  it('keeps the rows inside every brush; without one all', () => {
    expect(brushed(rows, axes, {})).toHaveLength(3);
    expect(brushed(rows, axes, { x: [0.4, 1] }).map(({ id }) => id)).toEqual([1, 2]);
    expect(brushed(rows, axes, { x: [0.4, 1], score: [0, 1] }).map(({ id }) => id)).toEqual([1]);
  });
});

describe('movedEnd', () => {
  const axis = axisOf('x', [1, 2, 3]);

  it('steps from value to value, and stops at the other end', () => {
    const once = movedEnd(axis, [0, 1], 'low', 1);
    expect(once[0]).toBeCloseTo(0.04, 9);
    const twice = movedEnd(axis, once, 'low', 1);
    expect(endText(axis, [1, 2, 3], twice[0])).toBe('2');
    expect(movedEnd(axis, [0.5, 0.5], 'low', 1)).toEqual([0.5, 0.5]);
    expect(movedEnd(axis, [0, 1], 'high', -1)[1]).toBeCloseTo(0.96, 9);
  });
});

describe('tickText', () => {
  it('shortens paths and long words', () => {
    expect(tickText('/a/b/10words.jsonl')).toBe('10words.jsonl');
    expect(tickText('a very long description')).toBe('a very long des…');
    expect(tickText(0.123456)).toBe('0.123');
    expect(tickText(true)).toBe('yes');
  });
});

describe('nameLines', () => {
  it('divides a long name at an underscore', () => {
    expect(nameLines('learning_rate', 18)).toEqual(['learning_rate']);
    expect(nameLines('per_device_train_batch_size', 18)).toEqual(['per_device_train_', 'batch_size']);
    expect(nameLines('x'.repeat(30), 18)).toEqual(['x'.repeat(30)]);
    expect(nameLines(`_${'x'.repeat(30)}`, 18)).toEqual([`_${'x'.repeat(30)}`]);
  });
});
