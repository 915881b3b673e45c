import { describe, expect, it } from 'vitest';
import { normRows, reportCharts } from '../../../renderer/replies/report-charts.ts';

const reward = {
  name: 'training_reward',
  head: ['model', 'step', 'reward', 'low', 'high'],
  rows: [
    ['baseline', 1, 0.4, null, null],
    ['baseline', 2, 0.5, null, null],
    ['grpo_from_baseline', 1, 0.6, 0.5, 0.7],
  ],
};

describe('reportCharts', () => {
  it('gives each model its line, intervals where there are some, and the targets', () => {
    const [chart, ...others] = reportCharts([reward, { name: 'lora_norms', head: [], rows: [] }]);
    expect(others).toEqual([]);
    expect(chart?.series).toEqual([
      { id: 'baseline', label: 'Baseline', colour: 'soft', look: 'dashed', x: [1, 2], y: [0.4, 0.5] },
      { id: 'grpo_from_baseline', label: 'GRPO', colour: 'strand-a', x: [1], y: [0.6], low: [0.5], high: [0.7] },
    ]);
    expect(chart?.lines.map(({ value }) => value)).toEqual([0.7, 0.5]);
  });

  it('draws the targets of replies for no other task', () => {
    const [chart] = reportCharts([reward], 'interleave');
    expect(chart?.lines).toEqual([]);
    expect(chart?.about).toBe('During training. It should rise.');
  });

  it('draws a far limit only where the curve comes near it', () => {
    expect(reportCharts([{ ...reward, name: 'training_kl' }])[0]?.lines).toMatchObject([{ value: 10, isFar: true }]);
  });
});

it('has a target for every training curve, or says that there is none', () => {
  const names = ['training_reward', 'training_diversity', 'training_kl', 'training_loss'];
  const targets = reportCharts(names.map((name) => ({ ...reward, name }))).map(
    ({ name, lines, about }) => [name, lines.length > 0, /no target/.test(about)] as const,
  );
  expect(targets).toEqual([
    ['training_reward', true, false],
    ['training_diversity', false, true],
    ['training_kl', true, false],
    ['training_loss', true, true],
  ]);
});

describe('normRows', () => {
  it('makes a row of each layer and a column of each module', () => {
    const rows = [
      ['baseline', 0, 'q_proj', 0.5],
      ['baseline', 0, 'v_proj', 0.25],
      ['baseline', 1, 'q_proj', 1],
    ];
    expect(normRows({ rows })).toEqual({
      columns: ['q_proj', 'v_proj'],
      rows: [
        { label: 'Baseline, 0', values: [0.5, 0.25] },
        { label: 'Baseline, 1', values: [1, null] },
      ],
    });
  });
});
