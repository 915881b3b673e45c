/** What an ended run would need to be resumed and isn't there. */
import { existsSync } from 'node:fs';
import { basename, isAbsolute } from 'node:path';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { savedFields } from './saved-config.ts';

/** A sentence for each missing file, without its full stop; that the contents are the same is checked by the trainer. */
export function resumeLacks(store: Pick<Store, 'folder'>, run: RunRow): readonly string[] {
  const { eval_dataset: heldOut, from_checkpoint: start } = savedFields(run);
  const files = [
    // A bundled one has a name only.
    { what: 'Its model', file: isAbsolute(run.model) ? run.model : null },
    // Trained whole, a checkpoint is the model.
    { what: 'The checkpoint it started from', file: typeof start === 'string' && start !== run.model ? start : null },
    { what: 'Its dataset', file: run.dataset },
    { what: 'The file of its held-out records', file: typeof heldOut === 'string' ? heldOut : null },
  ];
  return files.flatMap(({ what, file }) =>
    file === null || existsSync(fromStoredPath(store.folder, file)) ? [] : [`${what}, ${basename(file)}, is missing`],
  );
}
