/** A checkpoint's training history: the metrics by step in its trainer_state.json. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../../errors.ts';
import { parseJson } from '../../../io/json.ts';
import { readRegular } from '../../../io/read-file.ts';

/** One logged step: numbers by name. */
export type LoggedStep = Readonly<Record<string, number>>;

/** The log of a checkpoint's run, oldest step first; empty for a model that was not trained here. */
export function trainingHistory(folder: string): readonly LoggedStep[] {
  const file = join(folder, 'trainer_state.json');
  if (!existsSync(file)) return [];
  let state: unknown;
  try {
    state = parseJson(readRegular(file).toString('utf8'));
  } catch (cause) {
    throw inputError('BAD_CHECKPOINT', `${file}: expected JSON (${(cause as Error).message})`);
  }
  const log = (state as { readonly log_history?: unknown } | null)?.log_history;
  return Array.isArray(log) ? (log as LoggedStep[]) : [];
}

/** One metric of a log as points; steps without it are omitted. */
export function curveOf(history: readonly LoggedStep[], name: string): { readonly x: number; readonly y: number }[] {
  return history.flatMap((step) => {
    const value = step[name];
    return value === undefined || !Number.isFinite(value) ? [] : [{ x: step.step ?? 0, y: value }];
  });
}
