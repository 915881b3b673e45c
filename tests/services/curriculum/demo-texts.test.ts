/** The demo's texts stay on their side of the split when the workspace's own datasets are made from them later. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { makeDemoDataset } from '../../../main/services/curriculum/stage-datasets.ts';
import { type DatasetFiles, datasetFiles, readDataset } from '../../../main/services/datasets/index.ts';
import { importBundled } from '../../../main/services/library/imports.ts';
import { type Library, openLibrary } from '../../../main/services/library/library.ts';
import { makeDatasets } from '../../../main/services/library/make-datasets.ts';
import { makeDemoFiles } from '../../../main/services/recipes/demo.ts';
import { importIntoStore } from '../../../main/services/texts/index.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../main/services/workspace/jobs.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { interleaveTask } from '../../../main/tasks/interleave/task.ts';
import { temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { madeText } from '../texts/made-texts.ts';

const paths = checkoutPaths(resolve(import.meta.dirname, '../../..'));

function library(): Library {
  const root = temporaryFolder();
  const changes = openChanges();
  const opened = openLibrary({
    store: temporaryStore(root),
    workspace: openWorkspace({ workspace: root }),
    paths,
    changes,
    jobs: openJobs(changes),
  });
  onTestFinished(() => opened.close());
  return opened;
}

/** The user's own texts beside the bundled ones, of lengths that move the groups of the split. */
async function makeOwn(opened: Library): Promise<DatasetFiles> {
  await importBundled(opened);
  const own = [40, 90, 160, 230, 310, 420].map((words, i) => madeText(i, words));
  importIntoStore(opened.store, own);
  const recipe = { train: 256, test: 64, seed: 42, template: { name: 'process', version: 1 } };
  const { made } = await makeDatasets(opened, { ...recipe, stages: [25], replace: false });
  return datasetFiles(opened.store.datasets.get(made[0]?.id ?? 0)?.file ?? '');
}

function titles(file: string): Set<string> {
  return new Set(readDataset(file, interleaveTask).flatMap(({ title_a, title_b }) => [title_a, title_b]));
}

/** Texts that one trains on and the other tests with. */
function leaks(one: DatasetFiles, other: DatasetFiles): string[] {
  const across = (a: string, b: string) => [...titles(a)].filter((title) => titles(b).has(title));
  return [...across(one.train, other.test), ...across(other.train, one.test)];
}

describe.each([
  [
    'makeDemoDataset',
    async (opened: Library) => datasetFiles(opened.store.datasets.get(await makeDemoDataset(opened))?.file ?? ''),
  ],
  [
    'makeDemoFiles',
    async ({ store, workspace }: Library) => makeDemoFiles(store, { paths, workspace, seed: 42, words: 10 }),
  ],
])('%s', (_, makeDemo) => {
  it('always makes the same files, and keeps its texts out of the other side of later datasets', async () => {
    const opened = library();
    const demo = await makeDemo(opened);
    const digests = [demo.train, demo.test].map((file) =>
      createHash('sha256').update(readFileSync(file)).digest('hex'),
    );
    expect(digests).toEqual([
      '8f581e31de9b6fd2251b69a24a6b226f4e027a60baddb28c1ea74c3fdd209f1d',
      'f9980ea55336a4da240eecb06405bc1a990381b651486ae07f5bcc153e0510cf',
    ]);
    expect(leaks(demo, await makeOwn(opened))).toEqual([]);
  }, 240_000);
});
