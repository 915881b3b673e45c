/** Everything that a training method works on, opened from a `TrainerStart`: model, adapter, tokens, optimiser. */
import { inputError } from '../errors.ts';
import { checkChecksums } from '../model/checksums.ts';
import { readModelConfig } from '../model/config.ts';
import { loadModel } from '../model/load.ts';
import { type Adapter, adapterParameters, createAdapter, disposeAdapter, ownTargets } from '../model/lora.ts';
import { disposeModel, type Model, modelParameters } from '../model/model.ts';
import type { Parameter } from '../model/parameter.ts';
import { hasAdapter, loadAdapter } from '../model/peft.ts';
import { loadTokenizer, type Tokenizer } from '../model/tokenizer.ts';
import { openTask } from '../tasks/index.ts';
import type { Task } from '../tasks/task.ts';
import { completionLength, encodeRecords, endToken, longestPrompt, type TokenRecord } from './batching/prompts.ts';
import { isReinforcement, type RunConfig, type TrainConfig } from './config.ts';
import type { TrainerStart } from './host/start.ts';
import { decideForRun, type MemoryDecision, recordedDecision } from './memory/decide.ts';
import { openMeaning } from './monitor/meaning.ts';
import { AdamW } from './optimizer.ts';
import type { Policy } from './policy.ts';

export interface Session {
  readonly start: TrainerStart;
  /** With the activation memory that the run uses. */
  readonly config: RunConfig;
  readonly memory: MemoryDecision;
  readonly task: Task;
  readonly tokenizer: Tokenizer;
  /** What is trained. */
  readonly policy: Policy;
  /** The reference for the KL; null if beta is 0. */
  readonly reference: Policy | null;
  readonly parameters: readonly Parameter[];
  readonly optimizer: AdamW;
  readonly records: readonly TokenRecord[];
  readonly evalRecords: readonly TokenRecord[];
  readonly maxCompletionLength: number;
  decode(ids: readonly number[]): string;
  dispose(): void;
}

/** The records of a run as token ids. */
export type SessionTokens = Pick<Session, 'tokenizer' | 'records' | 'evalRecords' | 'maxCompletionLength'>;

/** Opens a session. All input errors are found here, before the first step. */
export function openSession(start: TrainerStart): Session {
  checkFiles(start);
  const task = openTask(start.task, start.rewardWorker);
  // Even without completions it loads the reward, and finds that one can't run.
  task.score([]);
  return openSessionOn(start, encodeStart(start, task), task);
}

/** Training on damaged files would go unnoticed. A resumed run reads its starting weights only for the KL reference. */
function checkFiles({ config, modelFolder, resumeFrom }: TrainerStart): void {
  const from = resumeFrom === null || config.beta > 0 ? config.from_checkpoint : null;
  for (const folder of new Set([modelFolder, resumeFrom, from])) if (folder !== null) checkChecksums(folder);
}

function encodeStart(start: TrainerStart, task: Task): SessionTokens {
  const tokenizer = loadTokenizer(start.modelFolder, start.config);
  if (start.config.system_prompt !== null && !tokenizer.hasChatTemplate)
    throw inputError(
      'NO_CHAT_TEMPLATE',
      `${start.modelFolder}: expected a chat template for "system_prompt", the model has none`,
      'Leave system_prompt out, or use a chat model.',
    );
  const { eosTokenIds, vocabSize } = readModelConfig(start.modelFolder);
  const eos = endToken(tokenizer, eosTokenIds);
  const records = encodeRecords(task, tokenizer, start.records, eos, vocabSize);
  const evalRecords = encodeRecords(task, tokenizer, start.evalRecords, eos, vocabSize);
  if (records.length === 0) throw inputError('EMPTY_DATASET', 'Expected at least one record to train on, got none');
  const untargeted = records.find(({ record }) => task.reference(record) === '');
  if (untargeted !== undefined && !isReinforcement(start.config.method))
    throw inputError(
      'NO_TARGET',
      `Expected a target to fine-tune on with method ${start.config.method}, record ${untargeted.record.id} has none`,
      'Give the task a "target", or use the method grpo.',
    );
  const maxCompletionLength = completionLength([...records, ...evalRecords], start.config, task);
  return { tokenizer, records, evalRecords, maxCompletionLength };
}

/** Opens a session on tokenised records. */
export function openSessionOn(start: TrainerStart, tokens: SessionTokens, task: Task): Session {
  const { tokenizer, records, evalRecords, maxCompletionLength } = tokens;
  const maxLength = longestPrompt([...records, ...evalRecords]) + maxCompletionLength;

  const first = startingWeights(start);
  const weights = start.resumeFrom === null ? first : weightsOf(start.resumeFrom, start);
  const memory = decideForRun(start.config, readModelConfig(weights.model), recordedDecision(start.resumeFrom));
  const config = { ...start.config, activation_memory_mb: memory.activationMb };
  const model = loadModel(weights.model, maxLength, memory.precision);
  const adapter = openAdapter(model, weights.adapter, config);
  const policy: Policy = { model, adapter };
  const parameters = adapter === null ? modelParameters(model) : adapterParameters(adapter);
  const reference =
    config.beta === 0 || !isReinforcement(config.method) ? null : openReference(policy, first, maxLength);
  const optimizer = new AdamW(parameters, config);
  const meaning = config.relevance_model === null ? null : openMeaning(config.relevance_model);
  return {
    start,
    config,
    memory,
    task: task.fit(start.records, meaning?.similarity),
    tokenizer,
    policy,
    reference,
    parameters,
    optimizer,
    records,
    evalRecords,
    maxCompletionLength,
    decode: (ids) => tokenizer.decode(ids),
    dispose: () => {
      task.close();
      meaning?.dispose();
      optimizer.dispose();
      if (reference !== null && reference.model !== model) disposeModel(reference.model);
      if (reference !== null && reference.adapter !== null) disposeAdapter(reference.adapter);
      if (adapter !== null) disposeAdapter(adapter);
      disposeModel(model);
    },
  };
}

interface StartingWeights {
  /** Folder with config.json and the full weights. */
  readonly model: string;
  /** Folder of the adapter to start from, if any. */
  readonly adapter: string | null;
}

/** The run's initial weights: its model, or the checkpoint that the stage starts from. */
function startingWeights(start: TrainerStart): StartingWeights {
  const from = start.config.from_checkpoint;
  return from === null ? { model: start.modelFolder, adapter: null } : weightsOf(from, start);
}

/** A checkpoint contains an adapter or, after full fine-tuning, a full model. */
function weightsOf(checkpoint: string, { config, modelFolder }: TrainerStart): StartingWeights {
  if (!hasAdapter(checkpoint)) return { model: checkpoint, adapter: null };
  if (config.use_peft) return { model: modelFolder, adapter: checkpoint };
  throw inputError(
    'ADAPTER_WITHOUT_PEFT',
    `${checkpoint}: the checkpoint contains a LoRA adapter, but "use_peft" is false`,
    'Set use_peft to true to continue training the adapter.',
  );
}

function openAdapter(model: Model, folder: string | null, config: TrainConfig): Adapter | null {
  if (!config.use_peft) return null;
  if (folder !== null) return loadAdapter(folder, model);
  const lora = {
    r: config.lora_r,
    alpha: config.lora_alpha,
    targetModules: ownTargets(model, config.lora_target_modules),
    useRslora: config.use_rslora,
  };
  return createAdapter(model, lora, config.seed);
}

/**
 * The run's initial policy: with a new adapter the base alone, with a warm-started one that adapter, and for full
 * fine-tuning the model, loaded a second time.
 */
function openReference(policy: Policy, first: StartingWeights, maxLength: number): Policy {
  if (policy.adapter === null) return { model: loadModel(first.model, maxLength), adapter: null };
  return { model: policy.model, adapter: first.adapter === null ? null : loadAdapter(first.adapter, policy.model) };
}
