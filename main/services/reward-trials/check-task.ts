/** Checks a task's folder as a whole: both files, its own records, and the examples that say what they should get. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError } from '../../errors.ts';
import { describeFault, type FileFault } from '../../io/text-file.ts';
import { append } from '../../lists.ts';
import type { ExternalAccess } from '../../tasks/external/access.ts';
import { notAllowed } from '../../tasks/external/scorer.ts';
import { checkDefinition } from '../../tasks/folder/definition.ts';
import { missingFields } from '../../tasks/folder/missing-fields.ts';
import { misspeltFields } from '../../tasks/folder/record-fields.ts';
import { checkCommandFiles, type FolderSource, outsideKinds, taskHash } from '../../tasks/folder/source.ts';
import { withGroups } from '../../tasks/groups.ts';
import { openTask } from '../../tasks/index.ts';
import { REWARD_FILE } from '../../tasks/sandbox/messages.ts';
import { stripTypes } from '../../tasks/sandbox/strip-types.ts';
import type { Task } from '../../tasks/task.ts';
import { datasetFiles } from '../datasets/files.ts';
import { readDataset } from '../datasets/index.ts';
import { OWN_RECORDS } from '../tasks/start-config.ts';
import { type GivenAnswer, readCompletions } from './completions-file.ts';
import { type Rewarded, rewarded } from './dry-run.ts';
import { templateNotes } from './template-notes.ts';

/** Examples in a task's folder: completions, each with the reward that it should get. */
export const EXAMPLES = 'examples.jsonl';

/** Field names as in `--json`. */
export interface TaskCheck {
  readonly ok: boolean;
  readonly task: string;
  readonly hash: string;
  readonly rewards: readonly string[];
  /** null: the folder has no such file. */
  readonly records: number | null;
  readonly held_out: number | null;
  readonly examples: number | null;
  /** A sentence each, with file and line. */
  readonly faults: readonly string[];
  /** Components that aren't reward.ts's, by their kind. */
  readonly external: Readonly<Record<string, string>>;
  /** What was not checked, and why, and what may not be meant. */
  readonly notes: readonly string[];
  /** What its first record becomes; null: it has none. */
  readonly first: { readonly prompt: string; readonly target: string } | null;
}

/** Rewards in examples are written with a few digits. */
const TOLERANCE = 1e-3;

/**
 * Checks everything; faults are listed, not thrown. `accessOf`: what components outside the sandbox need; where it
 * refuses, nothing is run or sent, and the examples are not scored. `hintOf`: what the caller adds to a remedy.
 */
export function checkTask(
  source: FolderSource,
  rewardWorker: string,
  accessOf: () => ExternalAccess | null = () => null,
  hintOf: (error: BraidError) => string | null = () => null,
): TaskCheck {
  const faults: string[] = [];
  const attempt = <T>(work: () => T): T | null => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      append(faults, error.message.split('\n'));
      return null;
    }
  };
  const file = (name: string): string | null => {
    const path = join(source.folder, name);
    return existsSync(path) ? path : null;
  };

  const task = attempt(() => openTask(source, rewardWorker));
  const hasFiles = attempt(() => checkCommandFiles(source)) !== null;
  const isRunnable = task !== null && hasFiles && attempt(() => task.score([])) !== null;
  const [records, examples] = [file(OWN_RECORDS), file(EXAMPLES)];
  const heldOut = file(datasetFiles(OWN_RECORDS).test);
  const read = task === null || records === null ? null : attempt(() => readDataset(records, task));
  const readHeldOut = task === null || heldOut === null ? null : attempt(() => readDataset(heldOut, task));
  const given = task === null || examples === null ? null : attempt(() => readCompletions(examples, task));
  const notes: string[] = [
    ...templateNotes(source),
    ...missingFields(source, read ?? []).map((found) => `${OWN_RECORDS}: ${found}.`),
  ];
  const [record] = read ?? [];
  const first = task === null || record === undefined ? null : { prompt: record.prompt, target: task.target(record) };
  const isServed = task?.environment?.examine !== undefined && record !== undefined;
  if (isRunnable && ((given !== null && examples !== null) || isServed)) {
    const scoring = attempt(() =>
      openScoring(source, rewardWorker, accessOf, (refusal) => {
        const said = [`${refusal.message}.`, refusal.remedy, hintOf(refusal)].filter((part) => part != null);
        notes.push(`${isServed ? 'The environment was not asked' : 'The examples were not scored'}. ${said.join(' ')}`);
      }),
    );
    if (scoring !== null) {
      const seen = record === undefined ? null : attempt(() => scoring.environment?.examine?.(record) ?? null);
      append(faults, [...(seen?.faults ?? [])]);
      append(notes, [...(seen?.notes ?? [])]);
      if (given !== null && examples !== null)
        append(faults, (attempt(() => exampleFaults(scoring, given, examples)) ?? []).map(describeFault));
      scoring.close();
    }
  }
  task?.close();
  if (isRunnable) append(faults, misspeltIn(source));
  return {
    ok: faults.length === 0,
    task: source.name,
    hash: taskHash(source),
    rewards: task?.rewardNames ?? [],
    records: read?.length ?? null,
    held_out: readHeldOut?.length ?? null,
    examples: given?.length ?? null,
    faults,
    external: externalKinds(source),
    notes,
    first,
  };
}

/** The task with what it was allowed; null: it may not run, which `note` gets. */
function openScoring(
  source: FolderSource,
  rewardWorker: string,
  accessOf: () => ExternalAccess | null,
  note: (refusal: BraidError) => void,
): Task | null {
  try {
    const access = accessOf();
    const [first] = Object.keys(externalKinds(source));
    if (access === null && first !== undefined) throw notAllowed(first);
    return openTask(source, rewardWorker, access);
  } catch (error) {
    if (!(error instanceof BraidError) || error.code !== 'REWARD_NOT_ALLOWED') throw error;
    note(error);
    return null;
  }
}

/** `reward.ts:3:12: …`, as faults of the sandbox are written. */
function misspeltIn({ definition, reward }: FolderSource): string[] {
  const checked = checkDefinition(definition);
  if ('faults' in checked) return [];
  const found = misspeltFields(stripTypes(reward, REWARD_FILE), Object.keys(checked.definition.fields));
  return found.map(({ line, column, message }) => `${REWARD_FILE}:${line}:${column}: ${message}`);
}

function externalKinds({ definition }: FolderSource): Readonly<Record<string, string>> {
  const checked = checkDefinition(definition);
  if ('faults' in checked) return {};
  return outsideKinds(checked.definition);
}

function exampleFaults(task: Task, given: readonly GivenAnswer[], file: string): FileFault[] {
  return rewarded(task, withGroups(given)).flatMap((scored, i) => {
    const { line = null, expected = null } = given[i] ?? {};
    const reason = scored.failure ?? difference(scored, expected);
    return reason === null ? [] : [{ file, line, reason }];
  });
}

function difference({ reward, components }: Rewarded, expected: GivenAnswer['expected']): string | null {
  if (expected === null) return null;
  if (typeof expected === 'number')
    return near(reward, expected) ? null : `expected a reward of ${expected}, got ${short(reward)}`;
  const off = Object.entries(expected).find(([name, value]) => !near(components[name] ?? Number.NaN, value));
  return off === undefined ? null : `expected "${off[0]}" of ${off[1]}, got ${short(components[off[0]] ?? Number.NaN)}`;
}

function near(a: number, b: number): boolean {
  return Math.abs(a - b) <= TOLERANCE;
}

function short(value: number): string {
  return String(Number(value.toFixed(4)));
}
