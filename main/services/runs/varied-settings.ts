/** The settings in which runs differ: the axes of a plot of settings against results. */
import { BraidError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { configFields } from '../../trainer/config/config.ts';
import { savedFields } from './saved-config.ts';

export interface VariedSettings {
  /** In the order of the configuration. */
  readonly fields: readonly string[];
  /** By run: the value of each field, in their order. */
  readonly values: Readonly<Record<number, readonly (string | number | boolean | null)[]>>;
}

/** The fields that differ among runs; a run that is gone or whose record is damaged is left out. */
export function variedSettings(store: Store, runIds: readonly number[]): VariedSettings {
  const configs = runIds.flatMap((runId) => {
    const config = readConfig(store, runId);
    return config === null ? [] : [[runId, config] as const];
  });
  const fields = configFields.filter(
    (field) => new Set(configs.map(([, config]) => JSON.stringify(config[field] ?? null))).size > 1,
  );
  return {
    fields,
    values: Object.fromEntries(configs.map(([runId, config]) => [runId, fields.map((field) => plain(config[field]))])),
  };
}

function readConfig(store: Store, runId: number): Readonly<Record<string, unknown>> | null {
  const run = store.runs.get(runId);
  if (run === undefined) return null;
  try {
    return savedFields(run);
  } catch (error) {
    if (error instanceof BraidError) return null;
    throw error;
  }
}

/** A list or an object as text: it is one of several categories. */
function plain(value: unknown): string | number | boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value;
  return JSON.stringify(value);
}
