/** A workspace for the screens about models: a dataset of bundled texts, a second model and a run's checkpoint. */
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { disposeModel } from '../../main/model/model.ts';
import { generateDataset, recordDataset, writeDataset } from '../../main/services/datasets/index.ts';
import { readCorpus } from '../../main/services/texts/index.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore } from '../../main/store/index.ts';
import { processTemplate } from '../../main/tasks/interleave/prompt.ts';
import { addRun } from '../store/helpers.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';

const root = resolve(import.meta.dirname, '../..');

/** Creates it and returns its folder. `run 1 · step 20` has the bundled model's weights. */
export async function modelWorkspace(): Promise<string> {
  const workspace = openWorkspace({ workspace: temporaryFolderOfFile() });
  disposeModel(await writeTinyModel(join(workspace.models, 'random'), { maxPositionEmbeddings: 1024 }));
  const made = generateDataset({
    texts: readCorpus([join(root, 'datasets/source_texts.json')]),
    words: 10,
    train: 12,
    test: 12,
    seed: 1,
    template: processTemplate,
  });
  if (made.kind === 'shortage') throw new Error(made.reason);
  const files = writeDataset(join(workspace.datasets, '10words.jsonl'), made);
  const store = openStore(workspace.database);
  recordDataset(store, {
    files,
    words: 10,
    train: { length: 12 },
    test: { length: 12 },
    seed: 1,
    template: processTemplate,
    leakage: null,
  });
  const run = addRun(store, { dataset: files.train });
  store.runs.place(run, 'run-0001-10words-grpo', 'outputs/run-0001-10words-grpo');
  store.runs.setState(run, 'done', null);
  const checkpoint = 'outputs/run-0001-10words-grpo/checkpoint-20';
  cpSync(join(root, 'resources/models/tiny'), join(workspace.root, checkpoint), { recursive: true });
  store.checkpoints.record(run, 20, checkpoint, 'final');
  store.close();
  return workspace.root;
}
