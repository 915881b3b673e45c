/** A report's data as the app's own charts. Pure. */
import type { ChartData } from '../../main/api/contract/index.ts';
import type { ReferenceLine } from '../charts/overlays.ts';
import type { ChartColour, ChartSeries } from '../charts/series.ts';
import { modelLabel } from './report-rows.ts';

export interface ReportChart {
  readonly name: string;
  readonly title: string;
  readonly unit?: string;
  readonly about: string;
  readonly xName: string;
  readonly series: readonly ChartSeries[];
  readonly lines: readonly ReferenceLine[];
  readonly include: readonly number[];
}

interface Kind {
  readonly title: string;
  readonly unit?: string;
  readonly about: string;
  readonly include?: readonly number[];
  readonly lines?: readonly ReferenceLine[];
}

/** Targets are those of the small-scale test (a mean reward above 0.5, a KL below 10) and of a reply that passes. */
const kinds: Readonly<Record<string, Kind>> = {
  pass_at_k: {
    title: 'Pass@k',
    about:
      'The share of posts with at least one passing reply (reward from 0.7) among k sampled ones, with 95% intervals.',
    include: [0, 1],
  },
  training_reward: {
    title: 'Reward',
    about: 'During training. It should rise; 0.5 is expected of the small-scale test, and a reply passes from 0.7.',
    include: [0.4],
    lines: [
      { value: 0.7, label: 'target 0.7', colour: 'good' },
      { value: 0.5, label: 'at least 0.5', colour: 'soft', side: 'right' },
    ],
  },
  training_diversity: {
    title: 'Diversity',
    about:
      'How different the sampled replies to one post are. It has no target of its own, as it depends on the posts: compare it with the first steps. A fall means that all replies become one.',
    include: [0, 1],
  },
  training_kl: {
    title: 'KL',
    unit: 'nats per token, target below 10',
    about:
      'How far the policy has moved from the reference. Above 10 it drifts away; the limit is drawn once it is near.',
    include: [0],
    lines: [{ value: 10, label: 'limit 10', colour: 'bad', isFar: true }],
  },
  training_loss: {
    title: 'Loss',
    about: 'In GRPO it stays around 0 and has no target; in fine-tuning it falls.',
    lines: [{ value: 0, label: '0: usual in GRPO', colour: 'soft' }],
  },
};

/** What is said of other tasks, whose rewards have targets of their own. */
const otherKinds: Readonly<Record<string, Kind>> = {
  ...kinds,
  pass_at_k: {
    title: 'Pass@k',
    about: 'The share of prompts with at least one passing completion among k sampled ones, with 95% intervals.',
    include: [0, 1],
  },
  training_reward: { title: 'Reward', about: 'During training. It should rise.' },
  training_diversity: {
    title: 'Diversity',
    about: 'How different the sampled completions of one prompt are. A fall means that all become one.',
    include: [0, 1],
  },
};

/** In the order of the report; data that isn't lines has a view of its own. */
export function reportCharts(charts: readonly ChartData[], task = 'reply'): readonly ReportChart[] {
  return charts.flatMap(({ name, head, rows }): ReportChart[] => {
    const kind = (task === 'reply' ? kinds : otherKinds)[name];
    if (kind === undefined) return [];
    const models = [...new Set(rows.map(([model]) => String(model)))];
    return [
      {
        name,
        title: kind.title,
        about: kind.about,
        xName: head[1] ?? 'step',
        ...(kind.unit !== undefined && { unit: kind.unit }),
        series: models.map((model, i) => seriesOf(model, i, rows)),
        lines: kind.lines ?? [],
        include: kind.include ?? [],
      },
    ];
  });
}

const COLOURS: readonly ChartColour[] = ['soft', 'strand-b', 'strand-a', 'focus', 'bad'];
/** A method has the same colour in every chart; any other model has one by its place. */
const METHODS = ['baseline', 'polychromic', 'grpo_from_baseline', 'polychromic_grpo'];

/** The colour of a model. */
export function colourOfModel(model: string, place: number): ChartColour {
  const method = METHODS.indexOf(model);
  return (method >= 0 ? COLOURS[method] : COLOURS.at(-1 - (place % 2))) ?? 'ink';
}

function seriesOf(model: string, place: number, rows: ChartData['rows']): ChartSeries {
  const own = rows.filter(([name]) => String(name) === model);
  const column = (at: number): (number | null)[] => own.map((row) => (typeof row[at] === 'number' ? row[at] : null));
  const [x, low, high] = [column(1).map((value) => value ?? 0), column(3), column(4)];
  return {
    id: model,
    label: modelLabel(model),
    colour: colourOfModel(model, place),
    x,
    y: column(2),
    ...(model === 'baseline' && { look: 'dashed' as const }),
    ...(low.some((value) => value !== null) && { low, high }),
  };
}

export interface NormRows {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
}

export function normRows({ rows }: Pick<ChartData, 'rows'>): NormRows {
  const columns = [...new Set(rows.map(([, , module]) => String(module)))];
  const places = new Map<string, Map<string, number>>();
  for (const [model, layer, module, norm] of rows) {
    const label = `${modelLabel(String(model))}, ${layer}`;
    const values = places.get(label) ?? new Map<string, number>();
    if (typeof norm === 'number') values.set(String(module), norm);
    places.set(label, values);
  }
  return {
    columns,
    rows: [...places].map(([label, values]) => ({ label, values: columns.map((name) => values.get(name) ?? null) })),
  };
}
