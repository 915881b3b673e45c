/** What the user writes about a run: notes and tags. */
import type { Store } from '../../store/index.ts';
import { storedJson } from '../../store/json.ts';
import { requireRun } from './runs.ts';

export interface RunNotes {
  readonly notes?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** Sets notes, tags or both; each tag is kept once, in the order given. */
export function annotateRun(store: Store, runId: number, { notes, tags }: RunNotes): void {
  const run = requireRun(store, runId);
  const kept = tags === undefined ? storedTags(run.tagsJson) : [...new Set(tags)];
  store.transaction(() => store.runs.annotate(runId, notes ?? run.notes, kept));
}

/** The tags of a stored run. */
export function storedTags(json: string): readonly string[] {
  const tags = storedJson(json, 'the tags of a run');
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}
