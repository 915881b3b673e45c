/** The figures of a comparison, each with its data. */
import { scoreByPosition } from '../../../tasks/interleave/metrics.ts';
import { barChart } from '../../figures/bar-chart.ts';
import { heatMap } from '../../figures/heat-map.ts';
import { lineChart, type Point, type Series } from '../../figures/line-chart.ts';
import type { ComparisonRow } from '../../text-worker/comparison-table.ts';
import type { ModelSamples } from './compare.ts';
import { curveOf } from './training-history.ts';

/** The figures that a comparison may have, by the name of their files without extension. */
export const FIGURE_NAMES = [
  'pass_at_k',
  'training_reward',
  'training_kl',
  'training_loss',
  'training_diversity',
  'measures',
  'lora_norms',
  'alignment_by_position',
] as const;

type FigureName = (typeof FIGURE_NAMES)[number];

export interface Figure {
  readonly name: FigureName;
  readonly title: string;
  readonly svg: string;
  /** A header and rows. */
  readonly data: readonly (readonly (string | number)[])[];
}

/** All figures for which the models have data. */
export function comparisonFigures(models: readonly ModelSamples[], rows: readonly ComparisonRow[]): readonly Figure[] {
  return [
    ...passCurve(models, rows),
    ...trainingCurve(models, 'reward', 'Reward during training'),
    ...trainingCurve(models, 'kl', 'KL from the reference during training (nats per token)'),
    ...trainingCurve(models, 'loss', 'Loss during training'),
    ...diversityCurve(models),
    ...measureBars(models, rows),
    ...loraNorms(models),
    ...alignmentByPosition(models),
  ];
}

function passCurve(models: readonly ModelSamples[], rows: readonly ComparisonRow[]): Figure[] {
  const passes = rows.flatMap((row) => {
    const k = /^pass@(\d+)$/.exec(row.measure.name)?.[1];
    return k === undefined ? [] : [{ k: Number(k), means: row.means }];
  });
  if (passes.length < 2) return [];
  const series = models.map(({ name }, m) => ({
    name,
    colour: m,
    points: passes.flatMap(({ k, means }): Point[] => {
      const at = means[m];
      return at === undefined ? [] : [{ x: k, y: at.mean, low: at.low, high: at.high }];
    }),
  }));
  return lines('pass_at_k', 'Pass@k', 'k', 'share of prompts', series);
}

function trainingCurve(models: readonly ModelSamples[], metric: 'reward' | 'kl' | 'loss', title: string): Figure[] {
  const series = models.map(({ name: of, history }, colour) => ({
    name: of,
    points: curveOf(history, metric),
    colour,
  }));
  return lines(`training_${metric}`, title, 'step', metric, series);
}

/** Of a group's completions in GRPO, of the sampled sets in polychromic SFT: the same metric. */
function diversityCurve(models: readonly ModelSamples[]): Figure[] {
  const names = ['completions/diversity', 'polychromic/diversity', 'completions/unique_ratio'];
  const series = models.map(({ name, history }, colour) => {
    const metric = names.find((candidate) => curveOf(history, candidate).length > 0) ?? '';
    return { name, points: curveOf(history, metric), colour };
  });
  return lines('training_diversity', 'Diversity during training', 'step', 'diversity of the sampled replies', series);
}

function lines(name: FigureName, title: string, xLabel: string, yLabel: string, all: readonly Series[]): Figure[] {
  const series = all.filter(({ points }) => points.length > 0);
  if (series.length === 0) return [];
  const data = series.flatMap(({ name: of, points }) =>
    points.map(({ x, y, low = Number.NaN, high = Number.NaN }) => [of, x, y, low, high]),
  );
  const head = ['model', xLabel, yLabel, 'low', 'high'];
  return [{ name, title, svg: lineChart({ title, xLabel, yLabel, series }), data: [head, ...data] }];
}

function measureBars(models: readonly ModelSamples[], rows: readonly ComparisonRow[]): Figure[] {
  const shown = rows.filter(
    ({ measure, means }) => means.every(({ mean }) => mean >= 0 && mean <= 1) && measure.name !== 'words',
  );
  const title = 'All metrics, means with 95% intervals';
  const series = models.map(({ name }, m) => ({
    name,
    bars: shown.map(({ means }) => {
      const { mean = Number.NaN, low, high } = means[m] ?? {};
      return { value: mean, ...(low !== undefined && high !== undefined && { low, high }) };
    }),
  }));
  const data = shown.flatMap(({ measure, means }) =>
    means.map(({ model, mean, low, high }) => [measure.name, model, mean, low, high]),
  );
  const groups = shown.map(({ measure }) => measure.name);
  return [
    {
      name: 'measures',
      title,
      svg: barChart({ title, yLabel: 'mean', groups, series }),
      data: [['measure', 'model', 'mean', 'low', 'high'], ...data],
    },
  ];
}

function loraNorms(models: readonly ModelSamples[]): Figure[] {
  const adapted = models.flatMap(({ name, norms }) => (norms === null ? [] : [{ name, norms }]));
  if (adapted.length === 0) return [];
  const modules = [...new Set(adapted.flatMap(({ norms }) => norms.map(({ module }) => module)))];
  const places = adapted.flatMap(({ name, norms }) =>
    [...new Set(norms.map(({ layer }) => layer))].map((layer) => ({ name, layer, norms })),
  );
  const values = places.map(({ layer, norms }) =>
    modules.map((module) => norms.find((norm) => norm.layer === layer && norm.module === module)?.norm ?? Number.NaN),
  );
  const title = 'Size of the adapter by layer and module (Frobenius norm)';
  const rows = places.map(({ name, layer }) => `${short(name)} · ${layer}`);
  const data = adapted.flatMap(({ name, norms }) =>
    norms.map(({ layer, module, norm }) => [name, layer, module, norm]),
  );
  return [
    {
      name: 'lora_norms',
      title,
      svg: heatMap({ title, columns: modules, rows, values }),
      data: [['model', 'layer', 'module', 'norm'], ...data],
    },
  ];
}

/** Checkpoints of one run differ in their names' ends. */
function short(name: string): string {
  const letters = [...name];
  return letters.length <= 18 ? name : `${letters.slice(0, 8).join('')}…${letters.slice(-9).join('')}`;
}

/** Interleave only: at each word, the share of completions that match the target there. */
function alignmentByPosition(models: readonly ModelSamples[]): Figure[] {
  const series = models.map(({ name, answers }, colour) => {
    const pairs = answers.flatMap(({ target, completions }) =>
      target === null ? [] : completions.map((completion) => ({ target, completion })),
    );
    return { name, points: scoreByPosition(pairs).map((y, i) => ({ x: i + 1, y })), colour };
  });
  return lines('alignment_by_position', 'Alignment by position', 'word', 'share matched', series);
}
