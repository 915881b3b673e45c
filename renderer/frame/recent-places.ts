/** The runs, sweeps, stages, datasets, comparisons, tasks and models opened last, newest first, for the palette. */

/** By the path of the workspace: run 7 is another one in each. */
const keyOf = (workspace: string): string => `braid.recent.${workspace}`;
const KEPT = 6;
/** Places that are a thing, not a screen. */
const THING =
  /^\/(?:runs\/\d+|experiments\/\d+|texts\/dataset\/\d+|compare\/\d+|curriculum\?stage=\d+|tasks\/[\w-]+|models\?model=[^&]+)$/;

/** The list after one more visit. */
export function visited(recent: readonly string[], path: string): readonly string[] {
  return THING.test(path) ? [path, ...recent.filter((known) => known !== path)].slice(0, KEPT) : recent;
}

export function recentPlaces(workspace: string, store: Pick<Storage, 'getItem'> = localStorage): readonly string[] {
  try {
    const stored = JSON.parse(store.getItem(keyOf(workspace)) ?? '[]') as unknown;
    return Array.isArray(stored) ? stored.filter((path) => typeof path === 'string' && THING.test(path)) : [];
  } catch {
    return [];
  }
}

export function rememberPlace(
  workspace: string,
  path: string,
  store: Pick<Storage, 'getItem' | 'setItem'> = localStorage,
): void {
  const before = recentPlaces(workspace, store);
  const after = visited(before, path);
  if (after !== before) store.setItem(keyOf(workspace), JSON.stringify(after));
}
