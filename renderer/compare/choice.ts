/** The settings of a new comparison: the defaults, and those in a link. Pure. */

import type { ModelEntry, PromptSource } from '../../main/api/contract/index.ts';

export interface Choice {
  readonly baseline: string | null;
  readonly models: readonly string[];
  readonly datasetIds: readonly number[];
  readonly n: number;
  readonly seed: number;
}

/**
 * The default: the first whole model against the newest run's last checkpoint, on the dataset that is fastest to
 * evaluate.
 */
export function firstChoice(models: readonly ModelEntry[], sources: readonly PromptSource[]): Choice {
  const usable = models.filter(({ problem }) => problem === null);
  const baseline = usable.find(({ kind }) => kind !== 'checkpoint')?.ref ?? null;
  const newest = usable.find(({ kind }) => kind === 'checkpoint')?.ref;
  const askable = sources.filter(({ problem }) => problem === null);
  // The shortest prompts are the fastest; of equal lengths, the newest dataset.
  const dataset = askable.toSorted((a, b) => lengthOf(a) - lengthOf(b) || b.datasetId - a.datasetId)[0];
  return {
    baseline,
    models: newest === undefined ? [] : [newest],
    datasetIds: dataset === undefined ? [] : [dataset.datasetId],
    n: Math.min(64, Math.max(1, dataset?.heldOut ?? 64)),
    seed: 42,
  };
}

/** Of mixed lengths, and of tasks without one, nothing is known: they come last. */
function lengthOf({ words }: PromptSource): number {
  return words ?? Number.MAX_SAFE_INTEGER;
}

/**
 * The choice in a link, `#/compare?baseline=…&model=…&model=…&dataset=3&n=64&seed=42`; missing parts come from
 * `defaults`.
 */
export function choiceOf(search: string, defaults: Choice): Choice {
  const asked = new URLSearchParams(search);
  const number = (name: string, fallback: number): number => {
    const value = Number(asked.get(name) ?? Number.NaN);
    return Number.isInteger(value) && value >= 0 ? value : fallback;
  };
  const datasets = asked.getAll('dataset').map(Number).filter(Number.isInteger);
  return {
    baseline: asked.get('baseline') ?? defaults.baseline,
    models: asked.has('model') ? asked.getAll('model') : defaults.models,
    datasetIds: datasets.length > 0 ? datasets : defaults.datasetIds,
    n: Math.max(1, number('n', defaults.n)),
    seed: number('seed', defaults.seed),
  };
}

/** Shortcuts for the newest run that has several checkpoints: its best by held-out score (the later of equals), and all. */
export function shortcuts(
  models: readonly Pick<ModelEntry, 'ref' | 'run' | 'step' | 'heldOut' | 'problem'>[],
): readonly { readonly label: string; readonly models: readonly string[] }[] {
  const usable = models.filter(({ problem, run }) => problem === null && run !== null);
  const own = [...Map.groupBy(usable, ({ run }) => run?.id).values()].find(({ length }) => length > 1);
  const run = own?.[0]?.run;
  if (own === undefined || run == null) return [];
  const scored = own.filter(({ heldOut }) => heldOut !== null);
  const best = scored.toSorted((a, b) => (b.heldOut ?? 0) - (a.heldOut ?? 0) || (b.step ?? 0) - (a.step ?? 0))[0];
  return [
    ...(best === undefined
      ? []
      : [{ label: `Best checkpoint of ${run.name} (step ${best.step})`, models: [best.ref] }]),
    {
      label: `${own.length === 2 ? 'Both' : `All ${own.length}`} checkpoints of ${run.name}`,
      models: own.map(({ ref }) => ref).slice(0, MOST),
    },
  ];
}

/** As many as a comparison takes. */
const MOST = 20;

/** The link that encodes this choice. */
export function linkTo({ baseline, models, datasetIds, n, seed }: Choice): string {
  const asked = new URLSearchParams({ n: String(n), seed: String(seed) });
  if (baseline !== null) asked.set('baseline', baseline);
  for (const model of models) asked.append('model', model);
  for (const dataset of datasetIds) asked.append('dataset', String(dataset));
  return `/compare?${asked}`;
}

/** Why this choice can't be compared; null if it can. */
export function choiceProblem({ baseline, models, datasetIds }: Choice): string | null {
  if (baseline === null) return 'Choose a baseline.';
  if (models.length === 0) return 'Choose at least one model to compare with it.';
  if (models.includes(baseline)) return 'The baseline is also among the models. Remove it from one of the two.';
  if (datasetIds.length === 0) return 'Choose a dataset to take the prompts from.';
  return null;
}
