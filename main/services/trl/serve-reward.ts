/**
 * The reward of an exported folder for another program: one JSON object a line, in and out. A request is
 * `{"answers": [{"record", "completion", "tokens", "finish"}]}`, its answer `{"scores": [{component: number or null}],
 * "failures": [text], "metrics": {name: number}}`, or `{"error"}` where the reward refuses to continue.
 */
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { BraidError, inputError } from '../../errors.ts';
import { parseJson } from '../../io/json.ts';
import { linesOf } from '../../io/lines.ts';
import type { ExternalAccess } from '../../tasks/external/access.ts';
import { inGroups } from '../../tasks/groups.ts';
import { nativeTask, openTask, type TaskSource } from '../../tasks/index.ts';
import type { Answer, Task, TaskRecord } from '../../tasks/task.ts';
import { nanStats } from '../../trainer/advantages/advantages.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import { parseConfig } from '../../trainer/config/config.ts';
import { failureMetrics } from '../../trainer/rollout/failed-rewards.ts';
import { readConfigFile } from '../config/presets.ts';
import { keptTask } from '../tasks/run-task.ts';
import { isExported, RUN_FILE, readExportedRecords } from './layout.ts';

const requestSchema = z.object({
  answers: z.array(
    z.object({
      record: z.looseObject({ id: z.string(), prompt: z.string() }),
      completion: z.string(),
      tokens: z.int().min(0),
      finish: z.enum(['stop', 'length']),
    }),
  ),
});

export type ScoredBatch = {
  readonly scores: readonly Readonly<Record<string, number | null>>[];
  /** Why a completion's reward failed; empty: it didn't. */
  readonly failures: readonly string[];
  readonly metrics: Readonly<Record<string, number | null>>;
};

/** The reward of an exported folder. To be closed. */
export interface FolderReward {
  score(answers: readonly Answer[]): ScoredBatch;
  close(): void;
}

/** Opens the reward of an exported folder: its task, fitted to its training records as in a run. */
export function openFolderReward(
  folder: string,
  rewardWorker: string,
  accessOf: (task: TaskSource) => ExternalAccess | null = () => null,
): FolderReward {
  if (!isExported(folder))
    throw inputError(
      'BAD_TRL_FOLDER',
      `${folder}: expected run.yaml, settings.json and train.jsonl of an export for TRL`,
      'Give a folder that `braid export --for trl` wrote.',
    );
  const config = parseConfig(readConfigFile(join(folder, RUN_FILE)), join(folder, RUN_FILE));
  const source = nativeTask(config.task) === undefined ? keptSource(folder) : config.task;
  const opened = openTask(source, rewardWorker, accessOf(source));
  // Even without completions it loads the reward.
  opened.score([]);
  const task = opened.fit(readExportedRecords(folder).map(({ record }) => record));
  return { score: (answers) => scoreBatch(task, answers, config), close: () => opened.close() };
}

function keptSource(folder: string) {
  const source = keptTask(folder);
  if (source !== null) return source;
  throw inputError('BAD_TRL_FOLDER', `${folder}: expected the task's text in tasks/`, 'Export the folder again.');
}

/** Scores completions; those whose reward failed as the configuration says. A component that doesn't apply is null. */
function scoreBatch(task: Task, answers: readonly Answer[], { reward_failure: policy }: TrainConfig): ScoredBatch {
  const scored = task.score(answers, policy === 'stop');
  const failures = scored.map(({ failure }) => failure);
  const first = failures.findIndex((failure) => failure !== null);
  if (first >= 0 && policy === 'stop')
    throw inputError(
      'REWARD_FAILED',
      `The reward failed on a completion of record ${answers[first]?.record.id}: ${failures[first]}. Checkpoints up to the last one are safe`,
      'Fix the reward and export again; or set reward_failure to zero or skip_group.',
    );
  // A batch may hold a part of a group only, so groups are known by their record.
  const skipped = new Set(answers.flatMap(({ record }, i) => (failures[i] === null ? [] : [record.id])));
  const rewardOf = (i: number, value: number | undefined): number | null => {
    if (policy === 'zero' && failures[i] !== null) return 0;
    if (skipped.has(answers[i]?.record.id ?? '') && policy === 'skip_group') return null;
    return value === undefined || Number.isNaN(value) ? null : value;
  };
  const check = task.check === null || answers.length === 0 ? null : meanOf(task.check.measure(answers));
  return {
    scores: scored.map(({ components }, i) =>
      Object.fromEntries(task.rewardNames.map((name) => [name, rewardOf(i, components[name])])),
    ),
    failures: failures.map((failure) => failure ?? ''),
    metrics: { ...failureMetrics(failures), ...(task.check !== null && { [`check/${task.check.name}`]: check }) },
  };
}

function meanOf(values: readonly number[]): number | null {
  const { mean } = nanStats(values);
  return Number.isFinite(mean) ? mean : null;
}

/** Answers requests until the input ends. */
export async function serveReward(
  reward: Pick<FolderReward, 'score'>,
  input: Readable,
  write: (line: string) => void,
): Promise<void> {
  for await (const line of linesOf(input)) if (line.trim() !== '') write(`${JSON.stringify(answerTo(reward, line))}\n`);
}

function answerTo(reward: Pick<FolderReward, 'score'>, line: string): ScoredBatch | { readonly error: string } {
  try {
    return reward.score(parseRequest(line));
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    return { error: [error.message, ...(error.remedy === undefined ? [] : [error.remedy])].join('. ') };
  }
}

function parseRequest(line: string): Answer[] {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch (cause) {
    throw badRequest((cause as Error).message);
  }
  const { data, error } = requestSchema.safeParse(value);
  if (data === undefined) throw badRequest(`${error.issues[0]?.path.join('.')}: ${error.issues[0]?.message}`);
  const answers = data.answers.map((answer) => ({ ...answer, record: answer.record as TaskRecord }));
  return inGroups(answers, (i) => answers[i]?.record.id);
}

function badRequest(reason: string) {
  return inputError('BAD_REWARD_REQUEST', `Expected {"answers": [{record, completion, tokens, finish}]} (${reason})`);
}
