/**
 * Comparing models on frozen prompts: each is evaluated once, and what is stored for its present files is used again.
 * Every evaluation is kept as soon as it is whole, so that a cancelled comparison goes on where it stood.
 */
import { BraidError, inputError } from '../../errors.ts';
import type { App } from '../app.ts';
import { evaluateModels } from '../evaluate.ts';
import { compareEvaluations } from '../evaluations.ts';
import type { JobContext } from '../jobs.ts';
import { type ModelEntry, requireModel } from '../model-list.ts';
import { resolveModelParts } from '../models.ts';
import { modelFingerprint } from './fingerprint.ts';
import { freezePrompts, type PromptChoice, type PromptSet, readPromptSet } from './prompt-set.ts';
import { keepEvaluation, keptItems } from './stored.ts';
import { requireComparison } from './view.ts';

export interface ComparisonRequest {
  /** Model references; see model-list.ts. */
  readonly baseline: string;
  readonly models: readonly string[];
  readonly prompts: PromptChoice;
}

type Host = Pick<App, 'store' | 'workspace' | 'paths' | 'jobs' | 'changes'>;

/** A model of a comparison that still has to answer. */
interface Question {
  readonly position: number;
  readonly entry: ModelEntry;
  readonly fingerprint: string;
}

/** A job that works on a comparison has this kind and its id. */
const KIND = 'comparison:';

/** Makes a comparison, or finds the one that asks the same, and evaluates what is missing in a job. Gives its id. */
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
  const set = freezePrompts(host.store, prompts);
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

/** Goes on with a comparison; `fresh` makes every evaluation anew. */
export function continueComparison(host: Host, id: number, fresh: boolean): void {
  refuseSecond(host);
  evaluateMissing(host, id, fresh);
}

/** Takes a comparison off the list; its evaluations stay, for others that ask the same. */
export function removeComparison(host: Pick<App, 'store' | 'jobs' | 'changes'>, id: number): void {
  refuseSecond(host, id);
  host.store.transaction(() => host.store.comparisons.remove(requireComparison(host.store, id).id));
  host.changes.publish('evaluations');
}

function sameComparison(store: App['store'], promptSetId: number, references: readonly string[]): number | undefined {
  const wanted = JSON.stringify(references);
  return store.comparisons
    .list()
    .filter((known) => known.promptSetId === promptSetId)
    .find(({ id }) => JSON.stringify(store.comparisons.models(id).map(({ reference }) => reference)) === wanted)?.id;
}

/** Two at once would only slow each other down. */
function refuseSecond({ jobs }: Pick<Host, 'jobs'>, id: number | null = null): void {
  const busy = jobs
    .list()
    .find(({ kind, state }) => state === 'running' && (id === null ? kind.startsWith(KIND) : kind === `${KIND}${id}`));
  if (busy === undefined) return;
  throw inputError(
    'COMPARISON_BUSY',
    `Expected no comparison to be at work, but there is one: "${busy.title}"`,
    'Wait for its end or cancel it.',
  );
}

function evaluateMissing(host: Host, id: number, fresh: boolean): void {
  const { store, changes, jobs } = host;
  const prompts = readPromptSet(store, requireComparison(store, id).promptSetId);
  const missing: Question[] = [];
  for (const { position, reference } of store.comparisons.models(id)) {
    const entry = requireModel(host, reference);
    const fingerprint = modelFingerprint(resolveModelParts(entry.model, host.paths));
    const known = fresh ? undefined : store.promptSets.find(prompts.id, fingerprint);
    // Made anew, the numbers on show stay until the new ones are there.
    if (!fresh) settle(store, id, position, known ?? null, prompts);
    if (known === undefined) missing.push({ position, entry, fingerprint });
  }
  changes.publish('evaluations');
  if (missing.length === 0) return;
  const title = `Compare: ${missing.length === 1 ? missing[0]?.entry.name : `${missing.length} models`} on ${prompts.records.length} prompts`;
  const { result } = jobs.start(`${KIND}${id}`, title, (job) => evaluateInTurn(host, id, prompts, missing, job));
  // The job's entry tells of a failure.
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
  for (const [index, { position, entry, fingerprint }] of missing.entries()) {
    const told = (done: number): void =>
      progress({ done: index * n + done, total: missing.length * n, unit: 'prompts' });
    told(0);
    try {
      const done = await evaluateModels({
        models: [{ name: entry.name, folder: entry.model }],
        dataset: prompts.records,
        paths,
        signal,
        onProgress: (part) => told(part.done),
      });
      const result = done.results[0];
      if (result === undefined) throw new BraidError('NO_EVALUATION', 'Expected the evaluation of a model, got none');
      settle(store, id, position, keepEvaluation(store, prompts, entry, fingerprint, done, result), prompts);
    } catch (error) {
      throw withWhatIsKept(error, entry.name, index);
    }
    changes.publish('evaluations');
  }
}

/** Notes a model's evaluation, and how it compares; a new one of the baseline changes that for every model. */
function settle(store: App['store'], id: number, position: number, evaluationId: number | null, set: PromptSet): void {
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

function pair(store: App['store'], baseline: number | null, evaluationId: number | null, { records }: PromptSet) {
  if (baseline === null || evaluationId === null) return null;
  return compareEvaluations(keptItems(store, baseline, records), keptItems(store, evaluationId, records));
}

function withWhatIsKept(error: unknown, name: string, before: number): unknown {
  if (!(error instanceof BraidError)) return error;
  const kept =
    before === 0
      ? ''
      : ` The ${before === 1 ? 'evaluation' : `${before} evaluations`} before it ${before === 1 ? 'is' : 'are'} kept.`;
  return new BraidError(error.code, `${name}: ${error.message}`, {
    kind: error.kind,
    cause: error,
    remedy: `${error.remedy ?? 'Try again.'}${kept}`,
  });
}
