/** Comparisons as a page shows them: the list, one with all its numbers, one prompt word by word. */
import { basename } from 'node:path';
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { App } from '../app.ts';
import type { Comparison, EvaluationSummary } from '../evaluations.ts';
import { listModels, type ModelEntry } from '../model-list.ts';
import { resolveModelParts } from '../models.ts';
import { type AlignedWord, alignCompletion, alignWords } from '../word-alignment.ts';
import { toStoredPath } from '../workspace.ts';
import { modelFingerprint } from './fingerprint.ts';
import { heldOutFile, readPrompt, readPromptSet } from './prompt-set.ts';
import { keptItems, keptNumbers } from './stored.ts';

export interface PromptSetSummary {
  readonly id: number;
  readonly hash: string;
  /** Names of the datasets that it was drawn from. */
  readonly datasets: readonly string[];
  /** Those of them that the workspace still has. */
  readonly datasetIds: readonly number[];
  readonly n: number;
  readonly seed: number;
}

/** A model in the list of comparisons. */
export interface ComparedName {
  readonly reference: string;
  readonly name: string;
  /** Mean alignment; null until it is evaluated. */
  readonly mean: number | null;
  readonly paired: Comparison | null;
}

export interface ComparisonSummary {
  readonly id: number;
  readonly madeAt: number;
  readonly prompts: PromptSetSummary;
  /** The baseline first. */
  readonly models: readonly ComparedName[];
}

/** Whether an evaluation still speaks of the model's files. */
export type Standing = 'same' | 'changed' | 'gone';

export interface ComparedModel extends ComparedName {
  readonly evaluatedAt: number | null;
  readonly backend: string | null;
  readonly seconds: number | null;
  readonly summary: EvaluationSummary | null;
  readonly standing: Standing;
}

/** One prompt: what each model scored on it, in the order of the models; null where one has not answered. */
export interface PromptRow {
  readonly id: string;
  readonly words: number;
  readonly titles: readonly [a: string, b: string];
  readonly scores: readonly (number | null)[];
  readonly exact: readonly boolean[];
}

export interface ComparisonView extends Omit<ComparisonSummary, 'models'> {
  readonly models: readonly ComparedModel[];
  readonly rows: readonly PromptRow[];
}

/** What a model made of one prompt. */
export interface Answer {
  readonly completion: string;
  readonly score: number;
  readonly words: readonly AlignedWord[];
}

export interface PromptAnswers {
  readonly fragments: readonly [a: string, b: string];
  readonly target: string;
  /** The target against itself: its words with their strands. */
  readonly targetWords: readonly AlignedWord[];
  readonly answers: readonly (Answer | null)[];
}

/** Every comparison, the newest first. */
export function listComparisons(store: Store): ComparisonSummary[] {
  return store.comparisons.list().map(({ id }) => summary(store, id));
}

/** A comparison with everything but the completions. */
export function readComparison(app: Pick<App, 'store' | 'workspace' | 'paths'>, id: number): ComparisonView {
  const { store } = app;
  const head = summary(store, id);
  const { records } = readPromptSet(store, head.prompts.id);
  const rows = store.comparisons.models(id);
  const known = listModels(app);
  const models = head.models.map((model, i): ComparedModel => {
    const evaluationId = rows[i]?.evaluationId ?? null;
    const kept = evaluationId === null ? null : keptNumbers(store, evaluationId);
    const made = evaluationId === null ? undefined : store.evaluations.get(evaluationId);
    return {
      ...model,
      evaluatedAt: made?.createdAt ?? null,
      backend: kept?.backend ?? null,
      seconds: kept?.seconds ?? null,
      summary: kept?.summary ?? null,
      standing: standing(
        app,
        known.find(({ ref }) => ref === model.reference),
        evaluationId,
      ),
    };
  });
  const answered = rows.map(({ evaluationId }) => {
    const items = evaluationId === null ? [] : keptItems(store, evaluationId, records);
    return new Map(items.map((item) => [item.id, item]));
  });
  return {
    ...head,
    models,
    rows: records.map(({ id: recordId, words, title_a, title_b }) => ({
      id: recordId,
      words,
      titles: [title_a, title_b],
      scores: answered.map((items) => items.get(recordId)?.alignment ?? null),
      exact: answered.map((items) => items.get(recordId)?.exact_match === 1),
    })),
  };
}

/** One prompt of a comparison, word by word. */
export function promptAnswers(store: Store, id: number, recordId: string): PromptAnswers {
  const { promptSetId } = requireComparison(store, id);
  const record = readPrompt(store, promptSetId, recordId);
  if (record === undefined)
    throw inputError('PROMPT_UNKNOWN', `Expected a prompt of comparison ${id}, got "${recordId}"`);
  const { target, fragment_a, fragment_b } = record;
  return {
    fragments: [fragment_a, fragment_b],
    target,
    targetWords: alignWords(target, target),
    answers: store.comparisons.models(id).map(({ evaluationId }) => {
      const item = evaluationId === null ? undefined : keptItems(store, evaluationId, [record])[0];
      if (item === undefined) return null;
      const { words } = alignCompletion(target, item.completion);
      return { completion: item.completion, score: item.alignment, words };
    }),
  };
}

/** The comparison, or an error that says that there is none. */
export function requireComparison(store: Pick<Store, 'comparisons'>, id: number) {
  const comparison = store.comparisons.get(id);
  if (comparison !== undefined) return comparison;
  throw inputError('COMPARISON_UNKNOWN', `Expected the id of a comparison, got ${id}: there is none`);
}

function summary(store: Store, id: number): ComparisonSummary {
  const { promptSetId, madeAt } = requireComparison(store, id);
  const set = store.promptSets.get(promptSetId);
  const files = set?.datasets ?? [];
  const datasets = files.map((file) => basename(file).replace(/(\.test)?\.jsonl$/, ''));
  return {
    ...{ id, madeAt },
    prompts: {
      id: promptSetId,
      hash: set?.hash ?? '',
      datasets,
      datasetIds: datasetsOf(store, files),
      n: set?.n ?? 0,
      seed: set?.seed ?? 0,
    },
    models: store.comparisons.models(id).map(({ reference, name, evaluationId, paired }) => ({
      ...{ reference, name, paired: paired as Comparison | null },
      mean: evaluationId === null ? null : (store.evaluations.get(evaluationId)?.mean ?? null),
    })),
  };
}

function datasetsOf(store: Store, files: readonly string[]): number[] {
  return store.datasets
    .list()
    .filter(({ file }) => files.includes(toStoredPath(store.folder, heldOutFile(store, file))))
    .map(({ id }) => id);
}

function standing(
  app: Pick<App, 'store' | 'paths'>,
  entry: ModelEntry | undefined,
  evaluationId: number | null,
): Standing {
  if (entry === undefined || entry.problem !== null) return 'gone';
  if (evaluationId === null) return 'same';
  try {
    const now = modelFingerprint(resolveModelParts(entry.model, app.paths));
    return app.store.promptSets.fingerprint(evaluationId) === now ? 'same' : 'changed';
  } catch {
    // A base model that went or can't be read: the adapter alone can't be asked again.
    return 'gone';
  }
}
