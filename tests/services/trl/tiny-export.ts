/**
 * The exported stage that the fixtures were trained from, and how: TRL's output for the same records is stored under
 * fixtures/. To make it again, with an environment of resources/trl/requirements.txt:
 *
 *   node tests/services/trl/tiny-export.ts FOLDER && python FOLDER/export/train.py
 *   node tests/services/trl/tiny-export.ts FOLDER --keep
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { disposeModel } from '../../../main/model/model.ts';
import { exportForTrl, inputsOfConfig } from '../../../main/services/trl/export.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { openStore, type Store } from '../../../main/store/index.ts';
import { parseConfig, type TrainConfig } from '../../../main/trainer/config/config.ts';
import { tinyConfig } from '../../left-by.ts';
import { writeTinyDataset } from '../../tiny-dataset.ts';
import { writeTinyModel } from '../../tiny-model.ts';

/** Braid's own folder. */
export const home = resolve(import.meta.dirname, '../../..');
export const paths = checkoutPaths(home);
export const fixtures = join(import.meta.dirname, 'fixtures');

/** A model and a dataset in `root`, and a configuration for them. */
export async function tinyStage(root: string, changes: Partial<TrainConfig> = {}): Promise<TrainConfig> {
  const model = join(root, 'model');
  disposeModel(await writeTinyModel(model));
  const dataset = writeTinyDataset(join(root, '2words.jsonl'));
  const steps = { max_steps: 3, save_steps: 2, eval_steps: 2, eval_records: 8 };
  return parseConfig({ ...tinyConfig, model, dataset, ...steps, ...changes });
}

/** Exports such a stage to `root`/export. */
export async function exportTinyStage(store: Store, root: string, changes: Partial<TrainConfig> = {}) {
  const inputs = inputsOfConfig(store, await tinyStage(root, changes), paths);
  return exportForTrl(inputs, join(root, 'export'), paths, home);
}

/** Copies what an import reads, without the paths of the machine. */
function keep(output: string): void {
  rmSync(fixtures, { recursive: true, force: true });
  mkdirSync(fixtures);
  const unread = /^(README\.md|optimizer\.pt|scheduler\.pt|rng_state.*\.pth|training_args\.bin|tokenizer.*\.json)$/;
  cpSync(output, fixtures, { recursive: true, filter: (path) => !unread.test(basename(path)) });
  for (const name of readdirSync(fixtures).filter((name) => name.startsWith('checkpoint-'))) {
    const file = join(fixtures, name, 'adapter_config.json');
    const config = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, `${JSON.stringify({ ...config, base_model_name_or_path: 'elsewhere' }, null, 2)}\n`);
  }
}

const [, script, folder, asked] = process.argv;
if (script === import.meta.filename && folder !== undefined) {
  if (asked === '--keep') keep(join(folder, 'export', 'output'));
  else {
    const store = openStore(openWorkspace({ workspace: join(folder, 'workspace') }).database);
    await exportTinyStage(store, folder);
    store.close();
  }
}
