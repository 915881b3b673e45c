/** The run that a person means: by id, by name, or the newest. */
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';

/** Names that the error shows. */
const SHOWN = 5;

/**
 * The run with this id, or the newest with this name, now or when it was started. Without a choice the newest one that
 * trains, or else the newest.
 */
export function findRun(store: Store, choice?: string): RunRow {
  const runs = store.runs.list({});
  const found =
    choice === undefined
      ? (runs.find(({ state }) => state === 'running' || state === 'paused') ?? runs[0])
      : (runs.find(({ id }) => String(id) === choice) ??
        runs.find(({ name }) => name === choice) ??
        runs.find(({ role }) => role === choice));
  if (found !== undefined) return found;
  if (runs.length === 0)
    throw inputError('NO_RUNS', `There is no run in ${store.folder} yet`, 'Start one in the app or with braid train.');
  const newest = runs.slice(0, SHOWN).map(({ id, name }) => `${id} (${name})`);
  throw inputError(
    'RUN_UNKNOWN',
    `There is no run "${choice}" in ${store.folder}`,
    `The newest: ${newest.join(', ')}.`,
  );
}
