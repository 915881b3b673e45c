/**
 * Comparing models on frozen prompts: each is evaluated once, and stored results for its current files are reused.
 * Every evaluation is saved when complete, so that a cancelled comparison resumes where it stopped.
 */
import { BraidError, inputError } from '../../../errors.ts';
import { isDeletedModel } from '../../../store/comparisons.ts';
import type { InterleaveRecord } from '../../../tasks/interleave/record.ts';
import { counted } from '../../../text/format.ts';
import { askedAlike } from '../../../trainer/policy/asked-alike.ts';
import type { ModelParts } from '../../../trainer/policy/model-parts.ts';
import type { EvaluateOptions } from '../../evaluation/evaluate.ts';
import { evaluateFolderTask, evaluateModels } from '../../evaluation/evaluate.ts';
import { interleaveRow, rewardRow } from '../../evaluation/history.ts';
import { compareEvaluations, type ScoredItem, summarizeScores } from '../../evaluation/summary.ts';
import { type ModelEntry, requireModel } from '../../models/list.ts';
import { resolveModelParts } from '../../models/resolve.ts';
import { trainedLimit } from '../../models/trained-limit.ts';
import { type RewardTrust, rewardAccess } from '../../tasks/reward-access.ts';
import type { JobProgress } from '../../trainer-process/job.ts';
import type { JobContext } from '../../workspace/jobs.ts';
import type { OpenWorkspace } from '../../workspace/open-workspace.ts';
import { earlierFingerprint, modelFingerprint, scoringFolders } from './fingerprint.ts';
import { freezePrompts, type PromptChoice, type PromptSet, readPromptSet } from './prompt-set.ts';
import { type EvaluatedModel, storedItems, storeEvaluation } from './stored.ts';
import { requireComparison } from './view.ts';

export interface ComparisonRequest {
  /** Model references; see model-list.ts. */
  readonly baseline: string;
  readonly models: readonly string[];
  readonly prompts: PromptChoice;
}

type Host = Pick<OpenWorkspace, 'store' | 'workspace' | 'paths' | 'jobs' | 'changes'> & RewardTrust;

/** A model of a comparison that still has to be evaluated. */
interface Question {
  readonly position: number;
  readonly entry: ModelEntry;
  readonly fingerprint: string;
  readonly limit: number | null;
  readonly chat: ModelParts['chat'];
}

/** The job of a comparison has this kind plus its id. */
const KIND = 'comparison:';

/** Creates a comparison, or finds an identical one, and runs missing evaluations in a job. Returns its id. */
export function startComparison(host: Host, { baseline, models, prompts }: ComparisonRequest): number {
  const references = [baseline, ...models];
  if (new Set(references).size < references.length || references.length < 2)
    throw inputError(
      'SAME_MODEL',
      'Expected a baseline and at least one other model, each once',
      'Choose different models to compare.',
    );
  refuseSecond(host);
  const entries = references.map((reference) => requireModel(host, reference));
  const set = freezePrompts(host, prompts);
  const id = host.store.transaction(
    () =>
      sameComparison(host.store, set.id, references) ??
      host.store.comparisons.add(
        set.id,
        entries.map(({ ref, name }) => ({ reference: ref, name })),
      ),
  );
  host.store.comparisons.touch(id);
  evaluateMissing(host, id, false);
  return id;
}

/** Continues a comparison; `fresh` repeats every evaluation. */
export function continueComparison(host: Host, id: number, fresh: boolean): void {
  refuseSecond(host);
  evaluateMissing(host, id, fresh);
}

/** Removes a comparison from the list; its evaluations are kept for others with the same prompts. */
export function removeComparison(host: Pick<OpenWorkspace, 'store' | 'jobs' | 'changes'>, id: number): void {
  refuseSecond(host, id);
  host.store.transaction(() => host.store.comparisons.remove(requireComparison(host.store, id).id));
  host.changes.publish('evaluations');
}

function sameComparison(
  store: OpenWorkspace['store'],
  promptSetId: number,
  references: readonly string[],
): number | undefined {
  const wanted = JSON.stringify(references);
  return store.comparisons
    .list()
    .filter((known) => known.promptSetId === promptSetId)
    .find(({ id }) => JSON.stringify(store.comparisons.models(id).map(({ reference }) => reference)) === wanted)?.id;
}

/** Two at a time would only slow each other down. */
function refuseSecond({ jobs }: Pick<Host, 'jobs'>, id: number | null = null): void {
  const busy = jobs
    .list()
    .find(({ kind, state }) => state === 'running' && (id === null ? kind.startsWith(KIND) : kind === `${KIND}${id}`));
  if (busy === undefined) return;
  throw inputError(
    'COMPARISON_BUSY',
    `Another comparison is running: "${busy.title}"`,
    'Wait for it to finish or cancel it.',
  );
}

function evaluateMissing(host: Host, id: number, fresh: boolean): void {
  const { store, changes, jobs } = host;
  const prompts = readPromptSet(store, requireComparison(store, id).promptSetId);
  const missing: Question[] = [];
  const asked = store.comparisons.models(id).map((row) => {
    const { position, reference, name } = row;
    if (isDeletedModel(row))
      throw inputError(
        'CHECKPOINT_MISSING',
        `${name} was deleted with its run, so it can't be evaluated again`,
        'The results so far are kept. Start a new comparison with other models.',
      );
    const entry = requireModel(host, reference);
    return { position, entry, name: entry.name, ...resolveModelParts(entry.model, host.paths) };
  });
  // What completions are compared with word by word limits them by itself.
  const limit = typeof prompts.source === 'string' ? null : trainedLimit(asked);
  const scoring = scoringFolders(prompts.source, store.folder);
  for (const { position, entry, ...parts } of askedAlike(asked)) {
    const fingerprint = modelFingerprint(parts, limit, scoring);
    const find = (by: string): number | undefined => store.promptSets.find(prompts.id, by);
    const known = fresh
      ? undefined
      : (find(fingerprint) ?? (scoring.length > 0 ? undefined : find(earlierFingerprint(parts, limit))));
    // When repeated, the old numbers are shown until the new ones exist.
    if (!fresh) settle(store, id, position, known ?? null, prompts);
    if (known === undefined) missing.push({ position, entry, fingerprint, limit, chat: parts.chat });
  }
  changes.publish('evaluations');
  if (missing.length === 0) return;
  const title = `Compare: ${missing.length === 1 ? missing[0]?.entry.name : `${missing.length} models`} on ${counted(prompts.records.length, 'prompt')}`;
  const { result } = jobs.start(`${KIND}${id}`, title, (job) => evaluateInTurn(host, id, prompts, missing, job));
  // The job's entry reports a failure.
  result.catch(() => changes.publish('evaluations'));
}

async function evaluateInTurn(
  host: Host,
  id: number,
  prompts: PromptSet,
  missing: readonly Question[],
  { signal, progress }: JobContext,
): Promise<void> {
  const { store, paths, changes } = host;
  const n = prompts.records.length;
  for (const [index, { position, entry, fingerprint, limit, chat }] of missing.entries()) {
    const told = (done: number): void =>
      progress({ done: index * n + done, total: missing.length * n, unit: 'prompts' });
    told(0);
    try {
      const access = rewardAccess(prompts.source, { workspace: store.folder, paths }, host);
      const onProgress = (part: JobProgress): void => told(part.done);
      const options = { paths, signal, onProgress, rewardAccess: access, trainedLimit: limit };
      const done = await evaluateEntry(prompts, entry, chat, options);
      settle(
        store,
        id,
        position,
        storeEvaluation(store, prompts, entry, fingerprint, done, { ...done.result, chat, limit }),
        prompts,
      );
    } catch (error) {
      throw withWhatIsKept(error, entry.name, index);
    }
    changes.publish('evaluations');
  }
}

/** One model on the prompts, by the task that they were frozen with. */
async function evaluateEntry(
  { source, records }: PromptSet,
  entry: ModelEntry,
  chat: ModelParts['chat'],
  options: Pick<EvaluateOptions, 'paths' | 'signal' | 'onProgress' | 'rewardAccess' | 'trainedLimit'>,
): Promise<{ readonly backend: string; readonly result: EvaluatedModel }> {
  const models = [{ name: entry.name, folder: entry.model, ...(chat !== undefined && { chat }) }];
  if (typeof source === 'string') {
    // What is frozen by name alone are interleave records: replies have a screen of their own.
    const { backend, results } = await evaluateModels({ ...options, models, dataset: records as InterleaveRecord[] });
    const [result] = results;
    if (result === undefined) throw missing();
    return { backend, result: { row: interleaveRow(result), summary: result.summary, seconds: result.seconds } };
  }
  const { backend, results } = await evaluateFolderTask(source, { ...options, models, dataset: records });
  const [result] = results;
  if (result === undefined) throw missing();
  const items = result.items.map(({ id, completion, metrics }): ScoredItem => {
    const { reward = Number.NaN, success = 0 } = metrics;
    return { id, completion, target: '', words: 0, alignment: reward, exact_match: success, first_error: 0 };
  });
  const { seconds, rewardCost } = result;
  return { backend, result: { row: rewardRow(result), summary: summarizeScores(items), seconds, rewardCost } };
}

function missing(): BraidError {
  return new BraidError('NO_EVALUATION', 'Expected the evaluation of a model, got none');
}

/** Stores a model's evaluation and paired result; a new baseline evaluation changes the result of every model. */
function settle(
  store: OpenWorkspace['store'],
  id: number,
  position: number,
  evaluationId: number | null,
  set: PromptSet,
): void {
  store.transaction(() => {
    store.comparisons.settle(id, position, evaluationId, null);
    const [baseline, ...others] = store.comparisons.models(id);
    for (const other of others) {
      if (position !== 0 && position !== other.position) continue;
      const paired = pair(store, baseline?.evaluationId ?? null, other.evaluationId, set);
      store.comparisons.settle(id, other.position, other.evaluationId, paired);
    }
  });
}

function pair(store: OpenWorkspace['store'], baseline: number | null, evaluationId: number | null, set: PromptSet) {
  if (baseline === null || evaluationId === null) return null;
  const paired = compareEvaluations(storedItems(store, baseline, set), storedItems(store, evaluationId, set));
  // Where every reward of either failed, there is nothing to say about them.
  return paired.n === 0 ? null : paired;
}

function withWhatIsKept(error: unknown, name: string, before: number): unknown {
  if (!(error instanceof BraidError)) return error;
  const kept =
    before === 0
      ? ''
      : ` The ${before === 1 ? 'evaluation' : `${before} evaluations`} before it ${before === 1 ? 'is' : 'are'} saved.`;
  return new BraidError(error.code, `${name}: ${error.message}`, {
    kind: error.kind,
    cause: error,
    remedy: `${error.remedy ?? 'Try again.'}${kept}`,
  });
}
