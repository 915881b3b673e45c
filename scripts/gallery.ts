/**
 * Makes docs/gallery/: a report of each kind, of real runs of the bundled models, in about fifteen minutes.
 *
 * node scripts/gallery.ts [--workspace DIR] [--backend NAME]
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { addStage } from '../main/services/curriculum/edit.ts';
import { openWorkspace } from '../main/services/workspace/workspace.ts';
import { openStore } from '../main/store/index.ts';

const { values } = parseArgs({
  options: { workspace: { type: 'string' }, backend: { type: 'string', default: 'wasm' } },
});
const root = resolve(import.meta.dirname, '..');
const workspace = resolve(values.workspace ?? mkdtempSync(join(tmpdir(), 'braid-gallery-')));
const { database, datasets } = openWorkspace({ workspace });

function braid(...args: readonly string[]): void {
  execFileSync(process.execPath, ['main/braid.ts', ...args, '--workspace', workspace], { cwd: root, stdio: 'inherit' });
}

braid('replies', '--backend', values.backend);
braid('dataset', '--words', '10,25,50');
planStages();
braid('queue', 'run', '--backend', values.backend);
const [tens, trained] = [join(datasets, '10words'), checkpointOf('10 words')];
const rates = ['--grid', 'learning_rate=2e-5,1e-4,2e-4', '--seeds', '1,2', '--steps', '20'];
braid('sweep', '--name', 'rates', '--config', 'interleave-tiny', '--dataset', `${tens}.jsonl`, ...rates);
const compared = join(workspace, 'compared');
braid('compare', '--baseline', 'tiny', '--trained', trained, '--dataset', `${tens}.test.jsonl`, '--output', compared);

const gallery = join(root, 'docs', 'gallery');
mkdirSync(gallery, { recursive: true });
const kinds = {
  run: ['--run', String(runOf('10 words'))],
  comparison: ['--comparison', compared],
  sweep: ['--sweep', '1'],
  replies: ['--replies'],
  curriculum: ['--curriculum'],
};
for (const [kind, of] of Object.entries(kinds)) braid('report', ...of, '--output', join(gallery, `${kind}.html`));

/** The first three stages, queued. */
function planStages(): void {
  const store = openStore(database);
  for (const { id, words } of store.datasets
    .list()
    .filter(({ task }) => task === 'interleave')
    .reverse())
    store.stages.setState(addStage(store, { name: `${words} words`, words, datasetId: id, steps: 40 }), 'queued');
  store.close();
}

function runOf(stage: string): number {
  const store = openStore(database);
  const id = store.stages.list().find(({ name }) => name === stage)?.id;
  const [run] = store.runs.list({ stageId: id });
  store.close();
  if (run === undefined) throw new Error(`Expected a run of the stage "${stage}", got none`);
  return run.id;
}

function checkpointOf(stage: string): string {
  const run = runOf(stage);
  const store = openStore(database);
  const path = store.checkpoints.ofRun(run).at(-1)?.path;
  store.close();
  if (path === undefined) throw new Error(`Expected a checkpoint of run ${run}, got none`);
  return join(store.folder, path);
}
