/** Imports rows as a dataset of the workspace: written, checked for leakage, listed in the history. */

import { existsSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { inputError } from '../../errors.ts';
import { nameFault } from '../../io/foreign-name.ts';
import { unpackedName } from '../../io/packed-file.ts';
import type { Store } from '../../store/index.ts';
import type { TaskSource } from '../../tasks/index.ts';
import { beginning } from '../../text/beginning.ts';
import { checkDatasetName } from '../datasets/dataset-name.ts';
import type { WrittenImport } from '../datasets/import/plan.ts';
import { countLeakage } from '../datasets/leakage.ts';
import { checkUnused } from '../library/catalogue.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { isHubSource, parseHubDataset } from './hub-name.ts';

/** The file of a new dataset; a name that is taken is an error unless it may be replaced. */
export function importTarget(
  { store, workspace }: { readonly store: Store; readonly workspace: Workspace },
  name: string,
  replace: boolean,
): string {
  const file = join(workspace.datasets, `${checkDatasetName(name, true)}.jsonl`);
  const row = store.datasets.byFile(file);
  if (row !== undefined) checkUnused(store, row);
  if (!replace && (row !== undefined || existsSync(file)))
    throw inputError('DATASET_EXISTS', `${name} already exists`, 'Choose another name, or replace the existing files.');
  return file;
}

/** Lists an imported dataset; returns its id. */
export function recordImport(store: Store, task: TaskSource, seed: number, written: WrittenImport): number {
  const { files, counts, leakage } = written;
  return store.transaction(() =>
    store.datasets.record({
      name: basename(files.train, '.jsonl'),
      file: files.train,
      task: typeof task === 'string' ? task : task.name,
      words: null,
      template: null,
      textHash: null,
      trainN: counts.train,
      testN: counts.test,
      seed,
      leakage: leakage === null ? null : countLeakage(leakage),
    }),
  );
}

/** `gsm8k`, or with a config that has a name of its own `gsm8k-socratic`. */
function hubName(source: string): string {
  const { repo, config } = parseHubDataset(source);
  const name = repo.slice(repo.indexOf('/') + 1);
  return config === null || ['main', 'default', name].includes(config) ? name : `${name}-${config}`;
}

/** A name for what is imported: that of its source. */
export function nameOfSource(source: string): string {
  const last = source.replace(/@.*$/, '').split(/[\\/]/).filter(Boolean).at(-1) ?? 'records';
  const withoutEnding = (name: string): string => name.slice(0, name.length - extname(name).length);
  const stem = isHubSource(source) ? hubName(source) : withoutEnding(unpackedName(last)) || last;
  const named = stem
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .replace(/\.test$/, '');
  const plain = beginning(named, 60);
  if (plain === '') return 'records';
  return nameFault(plain) === null ? plain : `records-${plain}`;
}
