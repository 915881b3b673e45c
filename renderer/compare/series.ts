/** Series for a comparison's charts. Pure. */
import type { ComparedModel, ModelEntry } from '../../main/api/contract/index.ts';
import type { ChartColour, ChartSeries } from '../charts/series.ts';
import { modelHeadings } from '../components/model-options.ts';
import { shortName } from '../components/short-name.ts';
import { type NameParts, shortened, tellApart } from '../components/tell-apart.ts';

/** The baseline is muted. Beyond four models, line styles distinguish them. */
const COLOURS: readonly ChartColour[] = ['strand-a', 'strand-b', 'focus', 'bad'];
const LOOKS = ['line', 'dashed', 'dotted'] as const;

/** How the model at a position is drawn. */
export function lookOf(position: number): Pick<ChartSeries, 'colour' | 'look'> {
  if (position === 0) return { colour: 'soft', look: 'dashed' };
  const i = position - 1;
  return {
    colour: COLOURS[i % COLOURS.length] ?? 'ink',
    look: LOOKS[Math.floor(i / COLOURS.length) % LOOKS.length] ?? 'line',
  };
}

/** The compared models' names, each split where it differs from the others. */
export function namesOf(models: readonly Pick<ComparedModel, 'name'>[]): readonly NameParts[] {
  const names = models.map(({ name }) => shortName(name));
  return names.map(tellApart(names));
}

/** The same in a line of text. */
export function labelsOf(models: readonly Pick<ComparedModel, 'name'>[]): readonly string[] {
  return namesOf(models).map((parts) => shortened(parts));
}

/** Mean alignment of each run's checkpoints by step, with its interval; only runs with several compared checkpoints. */
export function stepSeries(
  models: readonly ComparedModel[],
  entries: readonly Pick<ModelEntry, 'ref' | 'run' | 'step'>[],
): readonly ChartSeries[] {
  const places = new Map(entries.map(({ ref, run, step }) => [ref, { run, step }]));
  const headingOf = modelHeadings(entries);
  const runs = new Map<number, CheckpointsOfRun>();
  for (const { reference, summary } of models) {
    const { run = null, step = null } = places.get(reference) ?? {};
    if (run === null || step === null || summary === null) continue;
    // By id: a run's name is the user's, and two may have the same.
    const { points = [] } = runs.get(run.id) ?? {};
    runs.set(run.id, { label: headingOf({ run }), points: [...points, { step, summary }] });
  }
  return [...runs]
    .filter(([, { points }]) => points.length > 1)
    .map(([id, { label, points }], i) => {
      const inOrder = points.toSorted((a, b) => a.step - b.step);
      return {
        id: `run-${id}`,
        label,
        ...lookOf(i + 1),
        x: inOrder.map(({ step }) => step),
        y: inOrder.map(({ summary }) => summary.mean_alignment),
        low: inOrder.map(({ summary }) => summary.low),
        high: inOrder.map(({ summary }) => summary.high),
      };
    });
}

interface CheckpointsOfRun {
  readonly label: string;
  readonly points: readonly { readonly step: number; readonly summary: NonNullable<ComparedModel['summary']> }[];
}

/** Share of words right at each place in the target. */
export function positionSeries(models: readonly ComparedModel[]): readonly ChartSeries[] {
  const labels = labelsOf(models);
  return models.flatMap(({ reference, summary }, position) => {
    if (summary === null) return [];
    const y = summary.score_by_position;
    return [{ id: reference, label: labels[position] ?? '', ...lookOf(position), x: y.map((_, at) => at + 1), y }];
  });
}

/** Mean alignment by words per fragment, with its interval. */
export function lengthSeries(models: readonly ComparedModel[]): readonly ChartSeries[] {
  const labels = labelsOf(models);
  return models.flatMap(({ reference, summary }, position) => {
    if (summary === null) return [];
    const parts = Object.entries(summary.by_words).map(([words, part]) => ({ words: Number(words), ...part }));
    return [
      {
        id: reference,
        label: labels[position] ?? '',
        ...lookOf(position),
        x: parts.map(({ words }) => words),
        y: parts.map(({ mean_alignment }) => mean_alignment),
        low: parts.map(({ low }) => low),
        high: parts.map(({ high }) => high),
      },
    ];
  });
}
