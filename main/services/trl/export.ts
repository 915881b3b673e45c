/** Writes a stage as a folder that TRL runs by itself; `import-run` reads the result. */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { inputError } from '../../errors.ts';
import { writeFolderAtomic } from '../../io/atomic-write.ts';
import { copyContent } from '../../io/copy-file.ts';
import type { Store } from '../../store/index.ts';
import { openTask, taskFacts } from '../../tasks/index.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import { readModelConfig } from '../../trainer/memory/model-folder.ts';
import type { TrainerStart } from '../../trainer/protocol/start.ts';
import { type PromptText, type PromptTexts, promptTexts } from '../../trainer/stage/prompt-texts.ts';
import { readDataset } from '../datasets/index.ts';
import { resolveModel, resolveStartingModel } from '../models/resolve.ts';
import { requireRun } from '../runs/runs.ts';
import { savedConfig } from '../runs/saved-config.ts';
import { keepTask, runTask } from '../tasks/run-task.ts';
import { plannedStart } from '../training/planned-start.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type NotCarried, notCarriedOver, trlArguments } from './fields.ts';
import { type ExportedRow, RUN_FILE, SETTINGS_FILE, TEST_FILE, TRAIN_FILE } from './layout.ts';
import { readmeText } from './readme.ts';

/** What is exported. */
export type TrlInputs = Pick<TrainerStart, 'config' | 'task' | 'modelFolder' | 'records' | 'evalRecords'>;

/** Field names as in `--json`. */
export interface TrlExport {
  readonly folder: string;
  readonly train: number;
  readonly test: number;
  readonly not_carried_over: readonly NotCarried[];
  /** Chat settings that the model's chat template doesn't use. */
  readonly unused_chat_settings: readonly string[];
}

/** The inputs of a stage that hasn't run. */
export function inputsOfConfig(store: Store, config: TrainConfig, paths: HostPaths): TrlInputs {
  const { engine } = config;
  // The engine isn't used; it is listed as not carried over.
  const planned = plannedStart(store, { ...config, engine: null }, paths);
  return { ...planned, config: { ...planned.config, engine } };
}

/** The inputs of a run, as it was started. */
export function inputsOfRun(store: Store, runId: number, paths: HostPaths): TrlInputs {
  const run = requireRun(store, runId);
  const config = savedConfig(run);
  const source = runTask(store, run);
  const task = openTask(source, '');
  const { from_checkpoint: from } = config;
  return {
    config,
    task: source,
    modelFolder: from === null ? resolveModel(config.model, paths) : resolveStartingModel(from, config.model, paths),
    records: readDataset(config.dataset, task),
    evalRecords: config.eval_dataset === null ? [] : readDataset(config.eval_dataset, task),
  };
}

/** Writes the folder; an existing one must be empty. `home`: Braid's own folder. */
export function exportForTrl(inputs: TrlInputs, folder: string, paths: HostPaths, home: string): TrlExport {
  const { config, task: source } = inputs;
  if (taskFacts(source).maxTurns !== undefined)
    throw inputError(
      'ENVIRONMENT_ELSEWHERE',
      'This task has an environment, which runs inside Braid: TRL would sample one turn of each completion',
      'Train it here, or write the environment again for TRL (environment_factory).',
    );
  checkMethod(config);
  const there = statSync(folder, { throwIfNoEntry: false });
  if (there !== undefined && (!there.isDirectory() || readdirSync(folder).length > 0))
    throw inputError(
      'OUTPUT_NOT_EMPTY',
      `${folder}: expected a new or an empty folder for the export`,
      `Give another folder, or delete this ${there.isDirectory() ? 'one' : 'file'}.`,
    );
  // Prompts are rendered without the reward, so it starts no thread.
  const task = openTask(source, '');
  const texts = promptTexts(inputs, task);
  checkGeneration(config, texts.train.length);
  checkPrompts(texts);
  const notCarried = notCarriedOver(config);
  const weights = config.reward_weights ?? task.rewardWeights;
  const settings = {
    model: startsFromAdapter(config) || config.from_checkpoint === null ? inputs.modelFolder : config.from_checkpoint,
    base_weights: config.base_weights,
    compute_dtype: config.compute_dtype,
    rewards: task.rewardNames,
    eval_steps: config.eval_steps,
    eval_records: config.eval_records,
    lora: loraSettings(config, texts.targetModules),
    args: trlArguments(config, texts.maxCompletionLength, weights),
    braid: { home, node: process.execPath },
  };
  const readme = readmeText({
    config,
    task: task.name,
    model: settings.model,
    quantised: readModelConfig(settings.model).quantisation?.name ?? null,
    train: texts.train.length,
    test: texts.test.length,
    maxCompletionLength: texts.maxCompletionLength,
    notCarried,
  });
  writeFolderAtomic(
    folder,
    (temporary) => {
      const write = (name: string, content: string): void => writeFileSync(join(temporary, name), content);
      for (const name of ['train.py', 'reward.py', 'requirements.txt'])
        copyContent(join(paths.resources, 'trl', name), join(temporary, name));
      write('README.md', readme);
      write(RUN_FILE, stringify(config, { lineWidth: 0 }));
      write(SETTINGS_FILE, `${JSON.stringify(settings, null, 2)}\n`);
      write(TRAIN_FILE, rowsText(texts.train, 'train'));
      if (texts.test.length > 0) write(TEST_FILE, rowsText(texts.test, 'test'));
      keepTask(temporary, source);
      if (startsFromAdapter(config)) copyAdapter(config.from_checkpoint, join(temporary, 'adapter'));
    },
    { what: 'the export' },
  );
  return {
    folder,
    train: texts.train.length,
    test: texts.test.length,
    not_carried_over: notCarried,
    unused_chat_settings: texts.unusedChat.map(({ message, remedy }) => `${message}. ${remedy}`),
  };
}

type FromAdapter = TrainConfig & { readonly from_checkpoint: string };

function startsFromAdapter(config: TrainConfig): config is FromAdapter {
  const { from_checkpoint: from, use_peft } = config;
  return use_peft && from !== null && existsSync(join(from, 'adapter_config.json'));
}

function copyAdapter(from: string, to: string): void {
  mkdirSync(to);
  for (const name of ['adapter_config.json', 'adapter_model.safetensors'])
    copyContent(join(from, name), join(to, name));
}

/** PEFT's LoraConfig; null: all weights are trained. */
function loraSettings(config: TrainConfig, targetModules: readonly string[]) {
  if (!config.use_peft) return null;
  return {
    r: config.lora_r,
    lora_alpha: config.lora_alpha,
    target_modules: targetModules,
    use_rslora: config.use_rslora,
    lora_dropout: 0,
    bias: 'none',
  };
}

function rowsText(rows: readonly PromptText[], split: ExportedRow['split']): string {
  return rows
    .map(({ record, text, ids, target }): ExportedRow => {
      const { id } = record;
      return { id, split, prompt: text, prompt_ids: ids, target, record: JSON.stringify(record) };
    })
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('');
}

function checkMethod({ method, relevance_model }: TrainConfig): void {
  if (method !== 'grpo')
    throw inputError(
      'TRL_METHOD',
      `Expected method grpo for an export for TRL, got ${method}: its GRPOTrainer has no such objective`,
      'Train it with Braid, here or on an engine.',
    );
  if (relevance_model !== null)
    throw inputError(
      'TRL_RELEVANCE_MODEL',
      'Expected relevance_model null for an export for TRL: the reward process there loads no sentence encoder',
      'Set relevance_model to null, so that relevance is judged by words, or train with Braid.',
    );
}

/** TRL drops an incomplete generation, so a smaller dataset would train on nothing. */
function checkGeneration(config: TrainConfig, records: number): void {
  const slices = config.steps_per_generation ?? config.gradient_accumulation_steps;
  const prompts = Math.ceil((config.per_device_train_batch_size * slices) / config.num_generations);
  if (records >= prompts) return;
  throw inputError(
    'TRL_DATASET_TOO_SMALL',
    `Expected at least ${prompts} training records, as many prompts as a generation has, got ${records}: TRL would train on nothing`,
    'Lower per_device_train_batch_size, raise num_generations, or use a larger dataset.',
  );
}

/** train.py finds token ids by the prompt's text. */
function checkPrompts({ train, test }: PromptTexts): void {
  const known = new Map<string, PromptText>();
  for (const row of [...train, ...test]) {
    const other = known.get(row.text);
    if (other !== undefined && other.ids.join() !== row.ids.join())
      throw inputError(
        'TRL_PROMPT_AMBIGUOUS',
        `Records ${other.record.id} and ${row.record.id} have the same prompt, but other token ids: one quotes a control token of the model`,
        'Remove one of them.',
      );
    known.set(row.text, row);
  }
}
