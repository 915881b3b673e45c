/** The trainer_state.json of transformers' Trainer: what a run of TRL has logged, by step. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { parseJson } from '../../io/json.ts';
import { readTextFile } from '../../io/text-file.ts';
import type { Metrics } from '../../trainer/protocol/trainer-events.ts';
import { listCheckpoints } from '../../trainer/run/checkpoint.ts';

export const STATE_FILE = 'trainer_state.json';

export interface LoggedStep {
  readonly step: number;
  readonly metrics: Metrics;
}

export interface TrainerState {
  readonly file: string;
  /** Steps done, and those that were planned. */
  readonly step: number;
  readonly maxSteps: number;
  readonly steps: readonly LoggedStep[];
  /** Evaluations in between, by TRL's names: `eval_reward`, `eval_loss` … */
  readonly evaluations: readonly LoggedStep[];
}

const schema = z.looseObject({
  global_step: z.int().min(0),
  max_steps: z.int().min(0).default(0),
  log_history: z.array(z.looseObject({ step: z.int().min(0) })),
});

/** Reads the state of an output folder: its own (`trainer.save_state()`), otherwise its newest checkpoint's. */
export function readTrainerState(output: string): TrainerState {
  const file = stateFile(output);
  const content = readTextFile(file);
  if (content.kind === 'bad') throw badState(file, content.fault.reason);
  const { data, error } = schema.safeParse(parseState(file, content.value));
  if (data === undefined) throw badState(file, `"${error.issues[0]?.path.join('.')}": ${error.issues[0]?.message}`);
  const entries = onePass(data.log_history.map(({ step, ...logged }) => ({ step, metrics: numbersOf(logged) })));
  const evaluations = entries.filter(({ metrics }) => names(metrics).some(isEvaluation));
  const steps = entries.filter(isStep);
  if (steps.length === 0) throw badState(file, 'expected at least one logged step in "log_history", got none');
  return { file, step: data.global_step, maxSteps: Math.max(data.max_steps, data.global_step), steps, evaluations };
}

/**
 * The log without what a run repeated: where it went back to an earlier step, what came after that step is of a pass that
 * was given up. Entries of one step that log different things are one entry.
 */
function onePass(entries: readonly LoggedStep[]): readonly LoggedStep[] {
  const kept: LoggedStep[] = [];
  for (const entry of entries) {
    const again = kept.findIndex(({ step, metrics }) => step > entry.step || isRepeated(step, metrics, entry));
    if (again >= 0) kept.splice(again);
    const last = kept.at(-1);
    const joins = last?.step === entry.step && isStep(last) && isStep(entry);
    if (joins) kept[kept.length - 1] = { step: entry.step, metrics: { ...last.metrics, ...entry.metrics } };
    else kept.push(entry);
  }
  return kept;
}

/** Whether an entry logs something of its step a second time; every entry has the epoch and the tokens so far. */
function isRepeated(step: number, metrics: Metrics, entry: LoggedStep): boolean {
  if (step !== entry.step) return false;
  return names(entry.metrics).some((name) => name in metrics && !COMMON.has(name));
}

const COMMON: ReadonlySet<string> = new Set(['epoch', 'num_tokens', 'num_input_tokens_seen']);

function isStep({ metrics }: LoggedStep): boolean {
  return !names(metrics).some((name) => isEvaluation(name) || isSummary(name));
}

/** The file's value; Python writes NaN and Infinity, which JSON doesn't have: they become null. */
export function parseState(file: string, text: string): unknown {
  const json = text.replace(/"(?:[^"\\]|\\.?)*"?|-?\b(?:NaN|Infinity)\b/g, (part) => (part[0] === '"' ? part : 'null'));
  try {
    return parseJson(json);
  } catch (cause) {
    throw badState(file, `not JSON (${(cause as Error).message})`);
  }
}

function stateFile(output: string): string {
  const places = [
    output,
    ...listCheckpoints(output)
      .map(({ path }) => path)
      .reverse(),
  ];
  const found = places.map((place) => join(place, STATE_FILE)).find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw inputError(
    'NO_TRAINER_STATE',
    `${output}: expected ${STATE_FILE}, there or in a checkpoint-<step> folder, got neither`,
    'Give the output folder of a TRL run, or the folder that `braid export --for trl` wrote after train.py has run.',
  );
}

function badState(file: string, reason: string) {
  return inputError(
    'BAD_TRAINER_STATE',
    `${file}: ${reason}. Nothing was imported`,
    'Copy the folder again from where it was trained.',
  );
}

function names(metrics: Metrics): string[] {
  return Object.keys(metrics);
}

function isEvaluation(name: string): boolean {
  return name.startsWith('eval_');
}

/** The last entry of a run: totals instead of a step. */
function isSummary(name: string): boolean {
  return name === 'train_runtime';
}

function numbersOf(logged: Readonly<Record<string, unknown>>): Metrics {
  return Object.fromEntries(
    Object.entries(logged).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}
