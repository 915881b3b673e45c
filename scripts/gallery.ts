/**
 * Makes docs/gallery/: a report of each kind, of real runs of the bundled models, in about fifteen minutes.
 *
 * node scripts/gallery.ts [--workspace DIR] [--backend NAME]: started again with the same workspace, it makes what is
 * missing.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { addStage } from '../main/services/curriculum/edit.ts';
import { openWorkspace } from '../main/services/workspace/workspace.ts';
import { openStore, type Store } from '../main/store/index.ts';

const { values } = parseArgs({
  options: { workspace: { type: 'string' }, backend: { type: 'string', default: 'wasm' } },
});
const root = resolve(import.meta.dirname, '..');
const workspace = resolve(values.workspace ?? mkdtempSync(join(tmpdir(), 'braid-gallery-')));
const { database, datasets } = openWorkspace({ workspace });

function braid(...args: readonly string[]): void {
  execFileSync(process.execPath, ['main/braid.ts', ...args, '--workspace', workspace], { cwd: root, stdio: 'inherit' });
}

if (of((store) => store.runs.list()).length === 0) braid('replies', '--backend', values.backend);
if (of((store) => store.stages.list()).length === 0) {
  braid('dataset', '--words', '10,25,50');
  of(planStages);
}
braid('queue', 'run', '--backend', values.backend);
const trained = of((store) => checkpointOf(store, '10 words'));
const tens = join(datasets, '10words');
const rates = ['--grid', 'learning_rate=2e-5,1e-4,2e-4', '--seeds', '1,2', '--steps', '20'];
if (of((store) => store.sweeps.list()).length === 0)
  braid('sweep', '--name', 'rates', '--config', 'interleave-tiny', '--dataset', `${tens}.jsonl`, ...rates);
const compared = join(workspace, 'compared');
if (!existsSync(compared))
  braid('compare', '--baseline', 'tiny', '--trained', trained, '--dataset', `${tens}.test.jsonl`, '--output', compared);

const gallery = join(root, 'docs', 'gallery');
mkdirSync(gallery, { recursive: true });
const kinds = {
  run: ['--run', String(of((store) => runOf(store, '10 words')))],
  comparison: ['--comparison', compared],
  sweep: ['--sweep', '1'],
  replies: ['--replies'],
  curriculum: ['--curriculum'],
};
for (const [kind, subject] of Object.entries(kinds))
  braid('report', ...subject, '--output', join(gallery, `${kind}.html`));

/** What `read` finds in the workspace. */
function of<T>(read: (store: Store) => T): T {
  const store = openStore(database);
  try {
    return read(store);
  } finally {
    store.close();
  }
}

/** A stage for each dataset, the shortest first, queued. */
function planStages(store: Store): void {
  const made = store.datasets.list().filter(({ task }) => task === 'interleave');
  for (const { id, words } of made.toSorted((a, b) => (a.words ?? 0) - (b.words ?? 0)))
    store.stages.setState(addStage(store, { name: `${words} words`, words, datasetId: id, steps: 40 }), 'queued');
}

function runOf(store: Store, stage: string): number {
  const id = store.stages.list().find(({ name }) => name === stage)?.id;
  const [run] = id === undefined ? [] : store.runs.list({ stageId: id });
  if (run === undefined) throw new Error(`Expected a run of the stage "${stage}", got none`);
  return run.id;
}

function checkpointOf(store: Store, stage: string): string {
  const checkpoint = store.checkpoints.ofRun(runOf(store, stage)).at(-1);
  if (checkpoint === undefined) throw new Error(`Expected a checkpoint of the stage "${stage}", got none`);
  return join(store.folder, checkpoint.path);
}
