/** A stage that is computed here, opened from a `TrainerStart`: tokens, model, adapter, optimiser. */

import { inputError } from '../../errors.ts';
import { checkChecksums } from '../../model/checksums.ts';
import { readModelConfig } from '../../model/config.ts';
import { loadModel } from '../../model/load.ts';
import { type Adapter, adapterParameters, createAdapter, disposeAdapter, ownTargets } from '../../model/lora.ts';
import { disposeModel, type Model, trainableParameters } from '../../model/model.ts';
import type { Parameter } from '../../model/parameter.ts';
import { hasAdapter, loadAdapter } from '../../model/peft.ts';
import { withStops } from '../../model/stop-strings.ts';
import type { Task } from '../../tasks/task.ts';
import { setComputeDtype } from '../../tensor/compute-dtype.ts';
import { longestPrompt } from '../batching/prompts.ts';
import { changesReference, isReinforcement, type TrainConfig } from '../config/config.ts';
import { decideForRun, type MemoryDecision, recordedDecision } from '../memory/decide.ts';
import { currentBudget } from '../memory/device.ts';
import { modelsBytes } from '../memory/float32-bytes.ts';
import { storedBytes } from '../memory/stored-bytes.ts';
import { AdamW } from '../optim/optimizer.ts';
import type { Policy } from '../policy/policy.ts';
import { describeWeights, type StartingModel } from '../policy/starting-weights.ts';
import type { TrainerStart } from '../protocol/start.ts';
import type { SessionTokens } from '../stage/encode-start.ts';
import { openMeaning } from '../stage/meaning.ts';
import { encodeWritable, openRunTask } from '../stage/run-task.ts';
import type { Stage } from '../stage/stage.ts';

/** A stage with the model that is trained on it. */
export interface Session extends Stage {
  readonly memory: MemoryDecision;
  /** What is trained. */
  readonly policy: Policy;
  /** The reference for the KL; null if beta is 0. */
  readonly reference: Policy | null;
  readonly parameters: readonly Parameter[];
  /** The weights that it started from and reads again when it is resumed: a fixed reference's, an adapter's base. */
  readonly startingModel: StartingModel;
  readonly optimizer: AdamW;
}

/** Opens a session. All input errors are found here, before the first step. */
export function openSession(start: TrainerStart): Session {
  checkFiles(start);
  const task = openRunTask(start);
  return openSessionOn(start, encodeWritable(start, task), task);
}

/** Training on damaged files would go unnoticed. A resumed run reads its starting weights only for the KL reference. */
function checkFiles({ config, modelFolder, resumeFrom }: TrainerStart): void {
  const from = resumeFrom === null || config.beta > 0 ? config.from_checkpoint : null;
  for (const folder of new Set([modelFolder, resumeFrom, from])) if (folder !== null) checkChecksums(folder);
}

/** Opens a session on tokenised records. */
export function openSessionOn(start: TrainerStart, tokens: SessionTokens, task: Task): Session {
  const { tokenizer, records, evalRecords, maxCompletionLength, trialLength = maxCompletionLength } = tokens;
  const promptTokens = longestPrompt([...records, ...evalRecords]);
  const maxLength = promptTokens + trialLength;

  const first = startingWeights(start);
  const weights = start.resumeFrom === null ? first : weightsOf(start.resumeFrom, start);
  const recorded = recordedDecision(start.resumeFrom);
  const known = { promptTokens, completionTokens: trialLength, fileBytes: storedBytes(weights.model) };
  // They are loaded with the first completions.
  const budget = currentBudget(modelsBytes(start.rewardAccess?.models ?? {}));
  const memory = decideForRun(start.config, readModelConfig(weights.model), recorded, budget, known);
  setComputeDtype(start.config.compute_dtype, memory.precision === 'float32');
  const config = { ...start.config, activation_memory_mb: memory.activationMb };
  const model = loadModel(weights.model, maxLength, memory.precision);
  const adapter = openAdapter(model, weights.adapter, config);
  const policy: Policy = { model, adapter };
  const parameters = adapter === null ? trainableParameters(model) : adapterParameters(adapter);
  const reference =
    config.beta === 0 || !isReinforcement(config.method) ? null : openReference(policy, first, maxLength, config);
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
    startingModel: describeWeights(readAgain(start, first, reference !== null)),
    optimizer,
    records,
    evalRecords,
    maxCompletionLength,
    ...(trialLength > maxCompletionLength && { trialLength }),
    decode: withStops(tokenizer).decode,
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

/** Folders of starting weights that a resumed run reads: others may be gone by then. */
function readAgain({ config, modelFolder }: TrainerStart, first: StartingWeights, hasReference: boolean): string[] {
  const isFixed = hasReference && !changesReference(config);
  if (config.use_peft) return [modelFolder, ...(isFixed && first.adapter !== null ? [first.adapter] : [])];
  return isFixed ? [first.model] : [];
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
 * fine-tuning the model, loaded a second time. Where it will be what a warm-up makes of the policy, it has an adapter.
 */
function openReference(policy: Policy, first: StartingWeights, maxLength: number, config: TrainConfig): Policy {
  if (policy.adapter === null) return { model: loadModel(first.model, maxLength), adapter: null };
  const isBase = first.adapter === null && config.warm_up_steps === 0;
  return { model: policy.model, adapter: isBase ? null : openAdapter(policy.model, first.adapter, config) };
}
