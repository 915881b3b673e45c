/**
 * Checkpoints: `checkpoint-<step>/` with the weights as PEFT (or transformers) writes them, the tokenizer's files,
 * `trainer_state.json` with transformers' keys, `optimizer.safetensors`, and `rng.json` with all else that a run
 * needs to go on as if it had never stopped. Written beside its place and renamed: it is whole or it isn't there.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../errors.ts';
import { writeFolderAtomic } from '../files.ts';
import { readJson } from '../model/config.ts';
import { encodeModel } from '../model/export.ts';
import { encodeAdapter } from '../model/peft.ts';
import { encodeSafetensors, openSafetensors } from '../model/safetensors.ts';
import type { TaskRecord } from '../tasks/task.ts';
import { startWatch, type WatchState } from './collapse-watch.ts';
import type { Metrics } from './events.ts';
import type { SavedGeneration } from './generation.ts';
import type { Session } from './session.ts';
import type { TrainerStart } from './start.ts';

/** Where a run stands between two steps, beyond weights and optimiser. */
export interface RunProgress {
  /** Optimiser steps done. */
  readonly step: number;
  /** Prompt and completion tokens seen. */
  readonly tokens: number;
  readonly history: readonly (Metrics & { readonly step: number })[];
  readonly watch: WatchState;
  /** The generation in use, when the next step doesn't begin with one of its own. */
  readonly generation: SavedGeneration | null;
}

/** The start of a run. */
export function noProgress(): RunProgress {
  return { step: 0, tokens: 0, history: [], watch: startWatch(), generation: null };
}

/** Writes `<outputDir>/checkpoint-<step>`. Gives its path. */
export async function saveCheckpoint(session: Session, progress: RunProgress): Promise<string> {
  const { start } = session;
  const target = join(start.outputDir, `checkpoint-${progress.step}`);
  // Read off the device first: filling the folder must not wait for anything.
  const optimizerState = await session.optimizer.exportState();
  writeFolderAtomic(target, (folder) => fill(folder, session, progress, optimizerState), {
    what: `the checkpoint of step ${progress.step}`,
  });
  return target;
}

function fill(
  folder: string,
  session: Session,
  progress: RunProgress,
  optimizerState: Readonly<Record<string, Float32Array>>,
): void {
  const { policy, start, tokenizer } = session;
  const baseConfig = readJson(join(start.modelFolder, 'config.json')) as Readonly<Record<string, unknown>>;
  const files =
    policy.adapter === null
      ? encodeModel(policy.model, { baseConfig })
      : encodeAdapter(policy.adapter, start.modelFolder);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  for (const file of tokenizer.files) copyFileSync(file, join(folder, basename(file)));
  const moments = Object.entries(optimizerState).map(([name, data]) => ({ name, shape: [data.length], data }));
  writeFileSync(join(folder, 'optimizer.safetensors'), encodeSafetensors(moments));
  writeFileSync(join(folder, 'trainer_state.json'), json(trainerState(session, progress)));
  writeFileSync(join(folder, 'rng.json'), json(braidState(session, progress)));
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** transformers' TrainerState: the keys that its from-JSON constructor takes. */
function trainerState({ config }: Session, { step, tokens, history }: RunProgress) {
  const epoch = history.at(-1)?.epoch ?? 0;
  return {
    best_global_step: null,
    best_metric: null,
    best_model_checkpoint: null,
    epoch,
    eval_steps: config.eval_steps,
    global_step: step,
    is_hyper_param_search: false,
    is_local_process_zero: true,
    is_world_process_zero: true,
    log_history: history,
    logging_steps: 1,
    max_steps: config.max_steps,
    num_input_tokens_seen: tokens,
    num_train_epochs: Math.ceil(epoch),
    save_steps: config.save_steps,
    stateful_callbacks: {},
    total_flos: 0,
    train_batch_size: config.per_device_train_batch_size,
    trial_name: null,
    trial_params: null,
  };
}

/** The random numbers depend on (seed, step …) alone, so their state is the seed and where the run stands. */
function braidState({ config, start }: Session, { step, watch, generation }: RunProgress) {
  return { seed: config.seed, step, dataset: fingerprint(start.records), watch, generation };
}

/** The same for the same records in the same order: another dataset would give a resumed run other numbers. */
function fingerprint(records: readonly TaskRecord[]): string {
  const hash = createHash('sha256');
  for (const record of records) hash.update(`${JSON.stringify(record)}\n`);
  return `${records.length} records, sha256 ${hash.digest('hex').slice(0, 16)}`;
}

const TAKE_ANOTHER = 'Take another checkpoint of the run: train --resume CHECKPOINT.';

const trainerStateSchema = z.looseObject({
  global_step: z.int().min(0),
  num_input_tokens_seen: z.number().default(0),
  log_history: z.array(z.looseObject({ step: z.number() })).default([]),
});
const ruleSchema = z.object({ streak: z.number(), healthy: z.number(), warned: z.number() });
const watchSchema = z.object({
  rules: z.object({
    not_finite: ruleSchema,
    dead_groups: ruleSchema,
    repetition: ruleSchema,
    entropy: ruleSchema,
    kl: ruleSchema,
  }),
  startEntropy: z.number().nullable(),
  startSteps: z.number(),
  rewardFast: z.number().nullable(),
  rewardSlow: z.number().nullable(),
  lastReward: z.number().nullable(),
  learnedStreak: z.number(),
  said: z.array(z.enum(['learned', 'loss_zero'])),
}) satisfies z.ZodType<WatchState>;
const generationSchema = z.object({
  number: z.int().min(0),
  completions: z.array(z.object({ ids: z.array(z.int().min(0)).min(1), terminated: z.boolean() })),
  // JSON has no NaN: it was written as null.
  oldLogps: z
    .array(
      z.array(
        z
          .number()
          .nullable()
          .transform((value) => value ?? Number.NaN),
      ),
    )
    .nullable(),
}) satisfies z.ZodType<SavedGeneration>;
const braidStateSchema = z.object({
  seed: z.int(),
  step: z.int().min(0),
  dataset: z.string(),
  watch: watchSchema,
  generation: generationSchema.nullable(),
});

/** Takes up optimiser and progress from a checkpoint of the same run. Weights were loaded when the session opened. */
export function restoreCheckpoint(folder: string, { optimizer, start, policy }: Session): RunProgress {
  const state = parse(trainerStateSchema, join(folder, 'trainer_state.json'));
  const braid = parse(braidStateSchema, join(folder, 'rng.json'));
  checkBelongs(folder, { ...braid, globalStep: state.global_step }, start);
  checkVocabulary(folder, braid.generation, policy.model.config.vocabSize);
  const file = openSafetensors(join(folder, 'optimizer.safetensors'));
  try {
    optimizer.importState(Object.fromEntries([...file.entries.keys()].map((name) => [name, file.read(name)])));
  } finally {
    file.close();
  }
  return {
    step: state.global_step,
    tokens: state.num_input_tokens_seen,
    history: state.log_history as unknown as RunProgress['history'],
    watch: braid.watch,
    generation: braid.generation,
  };
}

/** Refuses files that are each fine but not of this run: a run that went on from them would give other numbers. */
function checkBelongs(
  folder: string,
  saved: { readonly seed: number; readonly step: number; readonly dataset: string; readonly globalStep: number },
  { config, records }: TrainerStart,
): void {
  const now = fingerprint(records);
  if (saved.dataset !== now) {
    throw inputError(
      'OTHER_DATASET',
      `${folder}: expected the dataset that the run began with (${saved.dataset}), got another (${now})`,
      'Resume with the same dataset, or start a new stage from the checkpoint with --from.',
    );
  }
  const file = join(folder, 'rng.json');
  if (saved.seed !== config.seed)
    throw inputError('BAD_CHECKPOINT', `${file}: expected "seed" ${config.seed}, got ${saved.seed}`, TAKE_ANOTHER);
  if (saved.step !== saved.globalStep) {
    throw inputError(
      'BAD_CHECKPOINT',
      `${file}: expected "step" ${saved.globalStep} as in trainer_state.json, got ${saved.step}`,
      TAKE_ANOTHER,
    );
  }
}

/** A token beyond the vocabulary would read beyond the embedding, which no backend notices. */
function checkVocabulary(folder: string, generation: SavedGeneration | null, vocabulary: number): void {
  const foreign = generation?.completions.flatMap(({ ids }) => ids).find((id) => id >= vocabulary);
  if (foreign === undefined) return;
  throw inputError(
    'BAD_CHECKPOINT',
    `${join(folder, 'rng.json')}: expected completions of tokens below ${vocabulary}, got token ${foreign}`,
    TAKE_ANOTHER,
  );
}

function parse<T>(schema: z.ZodType<T>, file: string): T {
  const parsed = schema.safeParse(readJson(file));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `"${path.join('.')}": ${message}`).join('; ');
  throw inputError('BAD_CHECKPOINT', `${file}: not the state of a checkpoint (${issues})`, TAKE_ANOTHER);
}

/** Checkpoint folders of a run, oldest first. */
export function listCheckpoints(outputDir: string): readonly { readonly step: number; readonly path: string }[] {
  if (!existsSync(outputDir)) return [];
  return readdirSync(outputDir)
    .flatMap((name) => {
      const step = /^checkpoint-(\d+)$/.exec(name)?.[1];
      return step === undefined ? [] : [{ step: Number(step), path: join(outputDir, name) }];
    })
    .sort((a, b) => a.step - b.step);
}

/**
 * Removes the oldest checkpoints up to `step`, all but `limit` of them. Later ones are of a future that the run was
 * taken back from: they don't count.
 */
export function dropOldest(outputDir: string, step: number, limit: number | null): void {
  if (limit === null) return;
  try {
    const past = listCheckpoints(outputDir).filter((checkpoint) => checkpoint.step <= step);
    for (const { path } of past.slice(0, -limit)) rmSync(path, { recursive: true, force: true });
  } catch {
    // A checkpoint too many is no reason to end a run: the next one tries again, and says what the folder refuses.
  }
}
