/** A workspace with a tiny model and dataset, and runs of it by the command. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { disposeModel } from '../../main/model/model.ts';
import { openStore } from '../../main/store/index.ts';
import { parseConfig, type TrainConfig } from '../../main/trainer/config/config.ts';
import { leftBy, tinyConfig } from '../left-by.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { startCommand } from './hosts.ts';

export interface World {
  readonly root: string;
  readonly config: TrainConfig;
  /** The configuration as a file for `--config`. */
  readonly configFile: string;
}

/** Checkpoints are sparse, so that most kills cost steps; a generation serves two steps, so that some fall into it. */
const changes: Partial<TrainConfig> = { max_steps: 36, save_steps: 7, steps_per_generation: 2, sample_steps: 4 };

/** Makes a world in a folder. */
export async function makeWorld(root: string): Promise<World> {
  mkdirSync(join(root, 'datasets'), { recursive: true });
  const model = join(root, 'models', 'tiny-test');
  disposeModel(await writeTinyModel(model));
  const dataset = writeTinyDataset(join(root, 'datasets', '2words.jsonl'));
  const config = parseConfig({ ...tinyConfig, model, dataset, backend: 'wasm', ...changes });
  const configFile = join(root, 'config.yaml');
  writeFileSync(configFile, stringify(config));
  return { root, config, configFile };
}

/** Trains a new run to its end; throws where it fails. */
export async function trainWhole({ root, configFile }: World): Promise<void> {
  const { code, stderr } = await startCommand(['train', '--config', configFile, '--workspace', root]).ended;
  if (code !== 0) throw new Error(`Expected an unbroken run to succeed, got code ${code}: ${stderr}`);
}

/** What a run of a workspace left; null where there is no such run. */
export function leftIn(root: string, runId: number): ReturnType<typeof leftBy> | null {
  const store = openStore(join(root, 'braid.db'));
  try {
    return store.runs.get(runId) === undefined ? null : leftBy(store, runId, true);
  } finally {
    store.close();
  }
}

/** Id and state of the newest run; null before the first. */
export function newestRun(root: string): { readonly id: number; readonly state: string } | null {
  const store = openStore(join(root, 'braid.db'));
  try {
    return store.runs.list({ limit: 1 })[0] ?? null;
  } finally {
    store.close();
  }
}

/** The first thing in which two runs differ; null: nothing. */
export function difference(left: ReturnType<typeof leftIn>, expected: ReturnType<typeof leftIn>): string | null {
  if (left === null || expected === null) return 'there is no run';
  for (const name of Object.keys(expected) as (keyof typeof expected)[])
    if (JSON.stringify(left[name]) !== JSON.stringify(expected[name])) return name;
  return null;
}

/** Words that no answer may hold: the language's own errors with their stacks. */
export function rawError(stderr: string): string | null {
  return /^\s+at .+:\d+:\d+\)?$|^(?:Type|Range|Reference|Syntax)Error\b.*/m.exec(stderr)?.[0].trim() ?? null;
}
