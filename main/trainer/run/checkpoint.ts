/**
 * Checkpoints: `checkpoint-<step>/` with the weights as PEFT (or transformers) writes them, the tokenizer's files,
 * `trainer_state.json` with transformers' keys, `optimizer.safetensors`, and `PROGRESS_FILE` with everything else that
 * a run needs to resume as if it had never stopped. Written atomically.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { writeFolderAtomic, writePieces } from '../../io/atomic-write.ts';
import { CHAT_SETTINGS, type ChatSettings, encodeChatSettings, readChatSettings } from '../../model/chat-settings.ts';
import { CHECKSUMS, encodeChecksums } from '../../model/checksums.ts';
import { readJson } from '../../model/config.ts';
import { playedSchema } from '../../samples/completion.ts';
import type { TaskRecord } from '../../tasks/task.ts';
import type { SavedGeneration } from '../batching/generation.ts';
import { type PromptState, startOfPrompts } from '../batching/prompt-stream.ts';
import { totalSteps } from '../config/config.ts';
import type { CheckpointFile, Engine } from '../engine/engine.ts';
import type { EntropyControl } from '../losses/adaptive-entropy.ts';
import { PROGRESS_FILE } from '../memory/decide.ts';
import { startWatch, type WatchState } from '../monitor/collapse-watch.ts';
import type { TrainerStart } from '../protocol/start.ts';
import type { Metrics } from '../protocol/trainer-events.ts';
import type { Stage } from '../stage/stage.ts';
import { checkRewardModels, describeRewardModels } from './reward-models.ts';

/** The state of a run between two steps, besides weights and optimiser. */
export interface RunProgress {
  /** Optimiser steps done. */
  readonly step: number;
  /** Prompt and completion tokens seen. */
  readonly tokens: number;
  readonly history: readonly (Metrics & { readonly step: number })[];
  readonly watch: WatchState;
  readonly prompts: PromptState;
  /** Of adaptive entropy control; null before its first step and without it. */
  readonly entropy: EntropyControl | null;
  /** The current generation, if the next step doesn't start with a new one. */
  readonly generation: SavedGeneration | null;
}

/** The start of a run. */
export function noProgress(): RunProgress {
  return {
    step: 0,
    tokens: 0,
    history: [],
    watch: startWatch(),
    prompts: startOfPrompts,
    entropy: null,
    generation: null,
  };
}

/** A model that was trained with a system prompt is trained on with it, unless another one is given. */
export function keptChatSettings(
  { system_prompt, chat_template_kwargs, reply_prompt, stop_strings }: ChatSettings,
  start: string,
): ChatSettings {
  const own = readChatSettings(start);
  return {
    system_prompt: kept(system_prompt, own.system_prompt),
    chat_template_kwargs: { ...own.chat_template_kwargs, ...chat_template_kwargs },
    reply_prompt: kept(reply_prompt, own.reply_prompt),
    stop_strings: stop_strings ?? own.stop_strings ?? null,
  };
}

/** A stage's own text, or the one before it; an empty one takes that away. */
function kept(asked: string | null, before: string | null): string | null {
  return asked === '' ? null : (asked ?? before);
}

/** Writes `<outputDir>/checkpoint-<step>`. Returns its path. */
export async function saveCheckpoint(stage: Stage, engine: Engine, progress: RunProgress): Promise<string> {
  const target = join(stage.start.outputDir, `checkpoint-${progress.step}`);
  const weights = await engine.save(progress.step);
  writeFolderAtomic(target, (folder) => fill(folder, stage, weights, progress), {
    what: `the checkpoint of step ${progress.step}`,
  });
  return target;
}

function fill(folder: string, stage: Stage, weights: readonly CheckpointFile[], progress: RunProgress): void {
  const { start, tokenizer } = stage;
  const digests = new Map<string, string>();
  // Digests are computed from memory: corruption on the disk is detected when the checkpoint is read.
  const write = (name: string, content: CheckpointFile[1]): void => {
    const pieces = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
    digests.set(name, writeDigested(join(folder, name), pieces));
  };
  for (const [name, content] of weights) write(name, content);
  for (const { name, content } of tokenizer.files) write(name, content());
  const chat = encodeChatSettings(start.config);
  if (chat !== null) write(CHAT_SETTINGS, chat);
  write('trainer_state.json', json(trainerState(stage, progress)));
  write(PROGRESS_FILE, json(progressState(stage, progress)));
  writeFileSync(join(folder, CHECKSUMS), encodeChecksums(digests));
}

/** Writes a file in pieces; returns its digest. */
function writeDigested(path: string, pieces: Iterable<string | Uint8Array>): string {
  const hash = createHash('sha256');
  writePieces(path, pieces, (piece) => hash.update(piece));
  return hash.digest('hex');
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** transformers' TrainerState: the keys that its from-JSON constructor takes. */
function trainerState({ config }: Stage, { step, tokens, history }: RunProgress) {
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
    max_steps: totalSteps(config),
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

/** The random numbers depend on (seed, step …) alone, so their state is the seed and the position in the run. */
function progressState(
  { config, start, memory, maxCompletionLength }: Stage,
  { step, watch, prompts, entropy, generation }: RunProgress,
) {
  return {
    seed: config.seed,
    step,
    dataset: fingerprint(start.records),
    heldOut: fingerprint(start.evalRecords),
    rewardModels: describeRewardModels(start),
    memory,
    maxCompletionLength,
    watch,
    prompts: {
      version: 1,
      extra: prompts.extra,
      deadInRow: [...prompts.deadInRow],
      targetDifficulty: prompts.targetDifficulty,
    },
    entropy: entropy === null ? null : { version: 1, ...entropy },
    generation,
  };
}

/** Equal for the same records in the same order: with another dataset a resumed run would differ. */
function fingerprint(records: readonly TaskRecord[]): string {
  const hash = createHash('sha256');
  for (const record of records) hash.update(`${JSON.stringify(record)}\n`);
  return `${records.length} records, sha256 ${hash.digest('hex').slice(0, 16)}`;
}

const USE_ANOTHER = 'Use another checkpoint of the run.';

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
    // Checkpoints from before this rule start it afresh.
    no_progress: ruleSchema.default(startWatch().rules.no_progress),
  }),
  startEntropy: z.number().nullable(),
  startSteps: z.number(),
  rewardFast: z.number().nullable(),
  rewardSlow: z.number().nullable(),
  bestReward: z.number().nullable().default(null),
  flatSteps: z.number().default(0),
  lastReward: z.number().nullable(),
  learnedStreak: z.number(),
  said: z.array(z.enum(['learned', 'loss_zero', 'nothing_learned'])),
}) satisfies z.ZodType<WatchState>;
/** Absent in checkpoints from before dynamic sampling: they have drawn none in addition. */
const promptsSchema = z.object({
  version: z.literal(1),
  extra: z.int().min(0),
  deadInRow: z
    .array(z.tuple([z.int().min(0), z.int().min(1)]))
    .transform((pairs): PromptState['deadInRow'] => new Map(pairs)),
  targetDifficulty: z.number().nullable().default(null),
});
const entropySchema = z
  .object({ version: z.literal(1), coefficient: z.number(), entropy: z.number().nullable() })
  .transform(({ coefficient, entropy }): EntropyControl => ({ coefficient, entropy }));
// JSON has no NaN: it was written as null.
const rowsSchema = z.array(
  z.array(
    z
      .number()
      .nullable()
      .transform((value) => value ?? Number.NaN),
  ),
);
const generationSchema = z.object({
  number: z.int().min(0),
  records: z.array(z.int().min(0)).nullable().default(null),
  completions: z.array(playedSchema),
  scores: z
    .object({ failures: z.array(z.string().nullable()), rewards: rowsSchema })
    .nullable()
    .default(null),
  oldLogps: rowsSchema.nullable(),
  refLogps: rowsSchema.nullable().default(null),
}) satisfies z.ZodType<SavedGeneration>;
const progressSchema = z.object({
  seed: z.int(),
  step: z.int().min(0),
  dataset: z.string(),
  /** Absent in checkpoints from before they were compared. */
  heldOut: z.string().optional(),
  rewardModels: z.record(z.string(), z.string()).default({}),
  watch: watchSchema,
  prompts: promptsSchema.optional(),
  entropy: entropySchema.nullable().default(null),
  generation: generationSchema.nullable(),
});

/** Restores progress from a checkpoint of the same run, and the engine's own state. */
export async function restoreCheckpoint(folder: string, { start }: Stage, engine: Engine): Promise<RunProgress> {
  const state = parse(trainerStateSchema, join(folder, 'trainer_state.json'));
  const progress = parse(progressSchema, join(folder, PROGRESS_FILE));
  checkBelongs(folder, { ...progress, globalStep: state.global_step }, start);
  checkRewardModels(folder, progress.rewardModels, start);
  checkVocabulary(folder, progress.generation, engine.describe().vocabSize);
  await engine.load(folder);
  return {
    step: state.global_step,
    tokens: state.num_input_tokens_seen,
    history: state.log_history as unknown as RunProgress['history'],
    watch: progress.watch,
    prompts: progress.prompts ?? startOfPrompts,
    entropy: progress.entropy,
    generation: progress.generation,
  };
}

/** Rejects files that are valid but not of this run: a run resumed from them would differ, or its scores would. */
function checkBelongs(
  folder: string,
  saved: Pick<z.infer<typeof progressSchema>, 'seed' | 'step' | 'dataset' | 'heldOut'> & {
    readonly globalStep: number;
  },
  { config, records, evalRecords }: TrainerStart,
): void {
  checkRecords(folder, `dataset of ${config.dataset}`, saved.dataset, fingerprint(records));
  const heldOut = fingerprint(evalRecords);
  checkRecords(folder, `held-out records of ${config.eval_dataset}`, saved.heldOut ?? heldOut, heldOut);
  const file = join(folder, PROGRESS_FILE);
  if (saved.seed !== config.seed)
    throw inputError('BAD_CHECKPOINT', `${file}: expected "seed" ${config.seed}, got ${saved.seed}`, USE_ANOTHER);
  if (saved.step !== saved.globalStep) {
    throw inputError(
      'BAD_CHECKPOINT',
      `${file}: expected "step" ${saved.globalStep} as in trainer_state.json, got ${saved.step}`,
      USE_ANOTHER,
    );
  }
}

function checkRecords(folder: string, what: string, saved: string, now: string): void {
  if (saved === now) return;
  throw inputError(
    'OTHER_DATASET',
    `${folder}: expected the run's original ${what} (${saved}), got others (${now})`,
    'Put the file back as it was, or start a new stage from the checkpoint.',
  );
}

/** A token beyond the vocabulary would read beyond the embedding, which no backend checks. */
function checkVocabulary(folder: string, generation: SavedGeneration | null, vocabulary: number): void {
  const foreign = generation?.completions.flatMap(({ ids }) => ids).find((id) => id >= vocabulary);
  if (foreign === undefined) return;
  throw inputError(
    'BAD_CHECKPOINT',
    `${join(folder, PROGRESS_FILE)}: expected completions of tokens below ${vocabulary}, got token ${foreign}`,
    USE_ANOTHER,
  );
}

function parse<T>(schema: z.ZodType<T>, file: string): T {
  const parsed = schema.safeParse(readJson(file));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `"${path.join('.')}": ${message}`).join('; ');
  throw inputError('BAD_CHECKPOINT', `${file}: not a valid checkpoint state (${issues})`, USE_ANOTHER);
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
