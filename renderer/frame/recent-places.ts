/** The runs, sweeps, stages, datasets, comparisons, tasks and models opened last, newest first, for the palette. */

const STORED = 'braid.recent';
const KEPT = 6;
/** Places that are a thing, not a screen. */
const THING =
  /^\/(?:runs\/\d+|experiments\/\d+|texts\/dataset\/\d+|compare\/\d+|curriculum\?stage=\d+|tasks\/[\w-]+|models\?model=[^&]+)$/;

/** The list after one more visit. */
export function visited(recent: readonly string[], path: string): readonly string[] {
  return THING.test(path) ? [path, ...recent.filter((known) => known !== path)].slice(0, KEPT) : recent;
}

export function recentPlaces(): readonly string[] {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED) ?? '[]') as unknown;
    return Array.isArray(stored) ? stored.filter((path) => typeof path === 'string' && THING.test(path)) : [];
  } catch {
    return [];
  }
}

export function rememberPlace(path: string): void {
  const before = recentPlaces();
  const after = visited(before, path);
  if (after !== before) localStorage.setItem(STORED, JSON.stringify(after));
}
