/** Views of comparisons for the page: the list, one with all its numbers, one prompt word by word. */

import { basename } from 'node:path';
import { inputError } from '../../../errors.ts';
import { largest, smallest } from '../../../lists.ts';
import { askedOf, type ChatMessage, shownText } from '../../../samples/chat-message.ts';
import { type Written, writtenOf } from '../../../samples/completion.ts';
import type { DatasetLeakage, DatasetRow } from '../../../store/datasets.ts';
import type { Store } from '../../../store/index.ts';
import type { TaskSource } from '../../../tasks/index.ts';
import type { Task, TaskRecord, TaskShow } from '../../../tasks/task.ts';
import { beginning } from '../../../text/beginning.ts';
import { formatMoney } from '../../../text/format.ts';
import { type AlignedWord, alignCompletion, alignWords } from '../../../text/word-alignment.ts';
import type { Comparison, EvaluationSummary, ScoredItem } from '../../evaluation/summary.ts';
import { listModels, type ModelEntry } from '../../models/list.ts';
import { resolveModelParts } from '../../models/resolve.ts';
import type { OpenWorkspace } from '../../workspace/open-workspace.ts';
import { readSettings } from '../../workspace/settings.ts';
import { toStoredPath } from '../../workspace/workspace.ts';
import { earlierFingerprint, modelFingerprint, scoringFolders } from './fingerprint.ts';
import { heldOutFile, type PromptSet, promptTask, readPrompt, readPromptSet } from './prompt-set.ts';
import { type EvaluatedModel, storedItems, storedSummary, wordsOf } from './stored.ts';
import { comparisonVerdict } from './verdict.ts';

export interface PromptSetSummary {
  readonly id: number;
  readonly hash: string;
  /** Names of the datasets it was drawn from. */
  readonly datasets: readonly string[];
  /** The ones that still exist. */
  readonly datasetIds: readonly number[];
  readonly n: number;
  readonly seed: number;
  /** Those of its datasets whose held-out records share words or texts with their training records. */
  readonly leaking: readonly {
    readonly name: string;
    readonly task: string;
    readonly heldOut: number;
    readonly leakage: DatasetLeakage;
  }[];
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
  /** What it shows, in one sentence; null until all are evaluated. */
  readonly verdict: string | null;
}

/** Whether an evaluation still matches the model's files. */
export type Standing = 'same' | 'changed' | 'gone';

export interface ComparedModel extends ComparedName {
  readonly evaluatedAt: number | null;
  readonly backend: string | null;
  readonly seconds: number | null;
  /** What judges cost, with the currency of the settings; null: nobody is paid. */
  readonly rewardCost: string | null;
  readonly summary: EvaluationSummary | null;
  readonly standing: Standing;
}

/** One prompt with each model's score, in the order of the models; null for one not evaluated yet, or not scored. */
export interface PromptRow {
  readonly id: string;
  readonly words: number;
  readonly titles: readonly [a: string, b: string];
  readonly scores: readonly (number | null)[];
  readonly exact: readonly boolean[];
}

/** What is compared, and the scale of it. */
export interface ComparedMetric {
  /** `Alignment`, or of a folder's task `Reward`. */
  readonly label: string;
  /** What counts as solved: `Exact`, `Success`. */
  readonly solved: string;
  /** Whether completions are shown word by word against their targets. */
  readonly isAligned: boolean;
  readonly low: number;
  readonly high: number;
}

export interface ComparisonView extends Omit<ComparisonSummary, 'models'> {
  readonly metric: ComparedMetric;
  readonly models: readonly ComparedModel[];
  readonly rows: readonly PromptRow[];
}

/** A model's completion of one prompt. */
export interface Answer extends Written {
  readonly score: number;
  /** Against the target; null for a task that isn't shown word by word. */
  readonly words: readonly AlignedWord[] | null;
}

export interface PromptAnswers {
  readonly show: TaskShow;
  /** The prompt, where the record is a conversation. */
  readonly messages?: readonly ChatMessage[];
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
export function readComparison(app: Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>, id: number): ComparisonView {
  const { store } = app;
  const head = summary(store, id);
  const set = readPromptSet(store, head.prompts.id);
  const { records, task } = set;
  const rows = store.comparisons.models(id);
  const known = listModels(app);
  const { currency } = readSettings(store);
  const models = head.models.map((model, i): ComparedModel => {
    const evaluationId = rows[i]?.evaluationId ?? null;
    const kept = evaluationId === null ? null : storedSummary(store, evaluationId);
    const made = evaluationId === null ? undefined : store.evaluations.get(evaluationId);
    return {
      ...model,
      evaluatedAt: made?.createdAt ?? null,
      backend: kept?.backend ?? null,
      seconds: kept?.seconds ?? null,
      rewardCost: kept?.rewardCost === undefined ? null : formatMoney(kept.rewardCost, currency),
      summary: kept?.summary ?? null,
      standing: standing(
        app,
        known.find(({ ref }) => ref === model.reference),
        evaluationId,
        set.source,
        kept ?? {},
      ),
    };
  });
  const answered = rows.map(({ evaluationId }) => {
    const items = evaluationId === null ? [] : storedItems(store, evaluationId, set);
    return new Map(items.map((item) => [item.id, item]));
  });
  const shown = records.map((record): PromptRow => {
    const { id: recordId } = record;
    return {
      id: recordId,
      words: wordsOf(record, task.target(record)),
      titles: titlesOf(task, record),
      scores: answered.map((items) => scoreOf(items.get(recordId))),
      exact: answered.map((items) => items.get(recordId)?.exact_match === 1),
    };
  });
  return { ...head, models, metric: metricOf(set, shown), rows: shown };
}

/** null for a completion whose reward failed. */
function scoreOf(item: ScoredItem | undefined): number | null {
  return item !== undefined && Number.isFinite(item.alignment) ? item.alignment : null;
}

function metricOf({ source, task }: Pick<PromptSet, 'source' | 'task'>, rows: readonly PromptRow[]): ComparedMetric {
  if (typeof source === 'string') return { label: 'Alignment', solved: 'Exact', isAligned: true, low: 0, high: 1 };
  const all = rows.flatMap((row) => row.scores.filter((value) => value !== null));
  return {
    label: 'Reward',
    solved: 'Success',
    isAligned: task.show === 'aligned',
    low: smallest(all, 0),
    high: largest(all, task.highestReward ?? 1),
  };
}

/** Titles of the two texts, what the user said last, or the beginnings of what stands in the prompt. */
export function titlesOf(task: Task, record: TaskRecord): readonly [string, string] {
  const asked = askedOf(record.messages ?? []).findLast(({ role }) => role === 'user');
  if (asked !== undefined) return [beginningOf(shownText(asked)), ''];
  if ('title_a' in record && 'title_b' in record) return [String(record.title_a), String(record.title_b)];
  const [first = record.prompt, second = ''] = task.quoted(record);
  return [beginningOf(first), beginningOf(second)];
}

const BEGINNING = 60;

function beginningOf(text: string): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  return line.length > BEGINNING ? `${beginning(line, BEGINNING)} …` : line;
}

/** One prompt of a comparison, word by word. */
export function promptAnswers(store: Store, id: number, recordId: string): PromptAnswers {
  const { promptSetId } = requireComparison(store, id);
  const record = readPrompt(store, promptSetId, recordId);
  if (record === undefined)
    throw inputError('PROMPT_UNKNOWN', `Expected a prompt of comparison ${id}, got "${recordId}"`);
  const { task } = promptTask(store, promptSetId);
  const target = task.target(record);
  return {
    show: task.show,
    ...(record.messages && { messages: askedOf(record.messages) }),
    target,
    targetWords: alignWords(target, target),
    answers: store.comparisons.models(id).map(({ evaluationId }) => {
      const item = evaluationId === null ? undefined : storedItems(store, evaluationId, { task, records: [record] })[0];
      if (item === undefined) return null;
      const words = task.show === 'aligned' ? alignCompletion(target, item.completion, task.name).words : null;
      return { ...writtenOf(item), score: item.alignment, words };
    }),
  };
}

/** The comparison, or an error if there is none. */
export function requireComparison(store: Pick<Store, 'comparisons'>, id: number) {
  const comparison = store.comparisons.get(id);
  if (comparison !== undefined) return comparison;
  throw inputError('COMPARISON_UNKNOWN', `There is no comparison with id ${id}`, 'It may have been removed.');
}

function summary(store: Store, id: number): ComparisonSummary {
  const { promptSetId, madeAt } = requireComparison(store, id);
  const set = store.promptSets.get(promptSetId);
  const files = set?.datasets ?? [];
  const known = datasetsOf(store, files);
  const models = store.comparisons.models(id).map(({ reference, name, evaluationId, paired }) => ({
    reference,
    name,
    paired: paired as Comparison | null,
    mean: evaluationId === null ? null : (store.evaluations.get(evaluationId)?.mean ?? null),
  }));
  const datasets = files.map((file) => basename(file).replace(/(\.test)?\.jsonl$/, ''));
  return {
    id,
    madeAt,
    prompts: {
      id: promptSetId,
      hash: set?.hash ?? '',
      datasets,
      datasetIds: known.map(({ id }) => id),
      n: set?.n ?? 0,
      seed: set?.seed ?? 0,
      leaking: known.flatMap(({ name, task, testN, leakage }) =>
        leakage === null || leakage.titles + leakage.pairs === 0 ? [] : [{ name, task, heldOut: testN, leakage }],
      ),
    },
    verdict: comparisonVerdict(models),
    models,
  };
}

function datasetsOf(store: Store, files: readonly string[]): DatasetRow[] {
  return store.datasets
    .list()
    .filter(({ file }) => files.includes(toStoredPath(store.folder, heldOutFile(store, file))));
}

function standing(
  app: Pick<OpenWorkspace, 'store' | 'paths'>,
  entry: ModelEntry | undefined,
  evaluationId: number | null,
  source: TaskSource,
  { chat, limit }: Pick<EvaluatedModel, 'chat' | 'limit'>,
): Standing {
  if (entry === undefined || entry.problem !== null) return 'gone';
  if (evaluationId === null) return 'same';
  try {
    // It was taken with the settings that a baseline borrows from a checkpoint.
    const parts = { ...resolveModelParts(entry.model, app.paths), ...(chat && { chat }) };
    const then = app.store.promptSets.fingerprint(evaluationId);
    const now = modelFingerprint(parts, limit, scoringFolders(source, app.store.folder));
    return then === now || then === earlierFingerprint(parts, limit) ? 'same' : 'changed';
  } catch {
    // The base model or one that scores is gone or unreadable: the adapter alone can't be evaluated again.
    return 'gone';
  }
}
