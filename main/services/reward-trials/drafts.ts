/** A task that is being written, saved or not: what is wrong with it, and what its reward would do. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { checkDefinition, TASK_FILE } from '../../tasks/folder/definition.ts';
import { missingFields } from '../../tasks/folder/missing-fields.ts';
import { misspeltFields } from '../../tasks/folder/record-fields.ts';
import { checkCommandFiles, type FolderSource, sourceOf } from '../../tasks/folder/source.ts';
import { openTask } from '../../tasks/index.ts';
import { REWARD_FILE } from '../../tasks/sandbox/messages.ts';
import { stripTypes } from '../../tasks/sandbox/strip-types.ts';
import { type Score, type TaskFacts, type TaskShow, totalReward } from '../../tasks/task.ts';
import type { ScoredAnswers } from '../../trainer/protocol/reward-calls.ts';
import { requireRun } from '../runs/runs.ts';
import type { ConsentFile } from '../tasks/consent.ts';
import { rewardAccess } from '../tasks/reward-access.ts';
import { requireSource } from '../tasks/task-list.ts';
import type { HostPaths } from '../workspace/paths.ts';
import type { Secrets } from '../workspace/secrets.ts';
import { EXAMPLES } from './check-task.ts';
import { type OutsideComponent, outsideOf } from './draft-consent.ts';
import { type Rewarded, recordsOf } from './dry-run.ts';
import type { RewardProcess } from './process.ts';
import { asWeighed, type ChangedGroup, changedGroups, handledAs, type Rescored, rescored } from './rescore.ts';
import type { KeptSample, SampledAnswers } from './sampled-answers.ts';
import { fileAnswers, storedAnswers, type TrialAnswers } from './trial-answers.ts';
import { type TrialReport, trialReport } from './trial-report.ts';

/** The texts as they stand in the editor. */
export interface Draft {
  readonly name: string;
  readonly definition: string;
  readonly reward: string;
}

/** A fault in one of the two texts. */
export interface DraftFault {
  readonly file: typeof TASK_FILE | typeof REWARD_FILE;
  /** From 1; null: it concerns the whole file. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
}

export interface DraftCheck {
  readonly faults: readonly DraftFault[];
  /** null where task.yaml has faults. */
  readonly facts: DraftFacts | null;
}

export interface DraftFacts {
  readonly title: string;
  /** The record's fields with their types. */
  readonly fields: Readonly<Record<string, string>>;
  readonly rewards: Readonly<Record<string, number>>;
  readonly check: string | null;
  readonly show: TaskShow;
  /** Components that aren't reward.ts's. */
  readonly outside: readonly OutsideComponent[];
}

/** Where the completions come from. */
export type TrialSource =
  | { readonly kind: 'run'; readonly runId: number }
  | { readonly kind: 'examples' }
  | { readonly kind: 'sampled'; readonly id: number };

export interface DraftPlace {
  readonly store: Store;
  readonly paths: Pick<HostPaths, 'resources' | 'externalRewards' | 'kernels'>;
  readonly rewards: RewardProcess;
  readonly sampled: SampledAnswers;
  /** By default those of this machine. */
  readonly consents?: ConsentFile;
  readonly secrets?: Pick<Secrets, 'get'>;
}

/** Completions of a dry run: an answer within a second, and enough to see how the rewards are spread. */
const MOST_TRIED = 1000;

/** The draft as a task: its folder is that of the saved one. */
export function draftSource({ name, definition, reward }: Draft, { store, paths }: DraftPlace): FolderSource {
  const saved = requireSource(name, { workspace: store.folder, paths });
  return sourceOf(saved.folder, definition, reward);
}

/** Loads a reward by itself while task.yaml has faults. */
const ANY_DEFINITION = 'title: any\nfields: {}\nprompt: any\nmax_completion_length: 1\nsuccess_threshold: 0\n';

/** Every fault of both texts. */
export async function checkDraft(place: DraftPlace, draft: Draft): Promise<DraftCheck> {
  const checked = checkDefinition(draft.definition);
  const source = draftSource(draft, place);
  const loaded = 'faults' in checked ? { ...source, definition: ANY_DEFINITION } : source;
  const inReward = await rewardFault(place, loaded);
  if ('faults' in checked) {
    const inDefinition = checked.faults.map(({ line, reason }): DraftFault => {
      return { file: TASK_FILE, line, column: null, message: reason };
    });
    return { faults: [...inDefinition, ...inReward], facts: null };
  }
  const { title, fields, rewards, check = null, show } = checked.definition;
  const outside = outsideOf(place, loaded);
  const misspelt = inReward.length === 0 ? misspeltIn(draft.reward, Object.keys(fields)) : [];
  return {
    faults: [...missingFiles(source), ...inReward, ...misspelt],
    facts: { title, fields, rewards, check, show, outside },
  };
}

/** What only types would have found. */
function misspeltIn(reward: string, fields: readonly string[]): DraftFault[] {
  return misspeltFields(stripTypes(reward, REWARD_FILE), fields).map((fault) => ({ file: REWARD_FILE, ...fault }));
}

/** Files that a command names and that can't be taken along. */
function missingFiles(source: FolderSource): DraftFault[] {
  try {
    checkCommandFiles(source);
    return [];
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    return [{ file: TASK_FILE, line: null, column: null, message: error.message }];
  }
}

async function rewardFault({ rewards }: DraftPlace, source: FolderSource): Promise<DraftFault[]> {
  try {
    await rewards.score('check', source, []);
    return [];
  } catch (error) {
    if (!(error instanceof BraidError) || error.code !== 'BAD_REWARD') throw error;
    return [placedFault(error.message)];
  }
}

/** `reward.ts:12:5: what is wrong`, as the sandbox reports it. */
function placedFault(text: string): DraftFault {
  const [, line, column, placed] = /^reward\.ts:(\d+):(\d+): ([\s\S]*)$/.exec(text) ?? [];
  if (line === undefined || column === undefined || placed === undefined)
    return { file: REWARD_FILE, line: null, column: null, message: text.replace(/^reward\.ts: /, '') };
  return { file: REWARD_FILE, line: Number(line), column: Number(column), message: placed };
}

/** What the draft's reward gives over completions. */
export async function tryDraft(place: DraftPlace, draft: Draft, from: TrialSource): Promise<TrialReport> {
  const source = draftSource(draft, place);
  const { facts, check, given } = givenAnswers(place, source, from, MOST_TRIED);
  const scored = await scoreGiven(place, 'try', source, given);
  const notes = missingFields(source, recordsOf(given.answers.map(({ answer }) => answer)));
  return trialReport(facts, check, given, scored, notes);
}

/** What a run's completions would have got under the draft. */
export interface RescoredDraft extends Rescored {
  /** Stored completions; more than `n` where time ran out. */
  readonly total: number;
  /** Those whose order changes most. */
  readonly changed: readonly ChangedGroup[];
}

const CHANGED_SHOWN = 8;

/** Scores every stored completion of a run with the draft. */
export async function rescoreDraft(place: DraftPlace, draft: Draft, runId: number): Promise<RescoredDraft> {
  const source = draftSource(draft, place);
  const { facts, given } = givenAnswers(place, source, { kind: 'run', runId }, Number.POSITIVE_INFINITY);
  const scored = await scoreGiven(place, 'rescore', source, given);
  const run = requireRun(place.store, runId);
  const weighed = asWeighed(place.store, run, facts);
  const rewards = handledAs(
    run,
    given,
    scored.scores.map((score) => withReward(weighed, score)),
  );
  return {
    ...rescored(run, source, given, rewards),
    total: given.total,
    changed: changedGroups(given, rewards, CHANGED_SHOWN),
  };
}

function withReward(facts: TaskFacts, score: Score): Rewarded {
  return { ...score, reward: totalReward(facts, score.components) };
}

function scoreGiven(
  { rewards, store, paths, ...trust }: DraftPlace,
  lane: string,
  source: FolderSource,
  { answers }: TrialAnswers,
): Promise<ScoredAnswers> {
  const named = answers.map(({ answer, group }) => ({ answer, group }));
  return rewards.score(lane, source, named, rewardAccess(source, { workspace: store.folder, paths }, trust));
}

function givenAnswers({ store, sampled }: DraftPlace, source: FolderSource, from: TrialSource, limit: number) {
  // Records are read without the reward, so it starts no thread.
  const task = openTask(source, '');
  const check = task.check?.name ?? null;
  return { facts: task as TaskFacts, check, given: read() };

  function read(): TrialAnswers {
    switch (from.kind) {
      case 'run':
        return storedAnswers(store, from.runId, task, limit);
      case 'examples':
        return fileAnswers(join(source.folder, EXAMPLES), task);
      case 'sampled': {
        const answers = sampled.get(from.id).map(({ fields, line, ...completed }) => ({
          answer: { record: task.parseRecord(fields, line), ...completed },
          group: String(line),
          step: null,
          before: null,
        }));
        return { answers, withoutRecord: 0, total: answers.length };
      }
    }
  }
}

/** A run whose stored completions can be tried. */
export interface RunSource {
  readonly runId: number;
  readonly name: string;
  readonly task: string;
  readonly completions: number;
}

/** What a task's reward can be tried on: runs of the task first, then others. */
export interface TrialSources {
  readonly hasExamples: boolean;
  readonly runs: readonly RunSource[];
  /** What was sampled for it, the newest first. */
  readonly sampled: readonly KeptSample[];
}

const MOST_RUNS = 50;

/** Runs with stored completions, the task's own first, the newest first; and what was sampled for the task. */
export function trialSources(
  { store, paths, sampled }: Pick<DraftPlace, 'store' | 'paths' | 'sampled'>,
  name: string,
): TrialSources {
  const { folder } = requireSource(name, { workspace: store.folder, paths });
  const runs = store.runs
    .list({ limit: 500 })
    .toSorted((a, b) => Number(b.task === name) - Number(a.task === name) || b.id - a.id)
    .slice(0, MOST_RUNS)
    .map((run) => ({ runId: run.id, name: run.name, task: run.task, completions: store.samples.count(run.id) }))
    .filter(({ completions }) => completions > 0);
  return { hasExamples: existsSync(join(folder, EXAMPLES)), runs, sampled: sampled.list(name) };
}
