/** Opens a stage whose model is elsewhere: records, tokenizer and rewards here, a session with the server there. */
import { inputError } from '../../errors.ts';
import { readModelConfig } from '../../model/config.ts';
import { parameterShapes } from '../../model/model.ts';
import { isLinearWeight } from '../../model/names.ts';
import { endTokens } from '../../model/tokenizer.ts';
import { type OpenBackend, openBackend } from '../backend/open-backend.ts';
import type { Engine } from '../engine/engine.ts';
import { weightCount } from '../memory/budget.ts';
import type { RemoteEngine } from '../protocol/remote.ts';
import type { TrainerStart } from '../protocol/start.ts';
import { tryLengths } from '../rollout/try-lengths.ts';
import { openMeaning } from '../stage/meaning.ts';
import { encodeWritable, openRunTask } from '../stage/run-task.ts';
import type { Stage } from '../stage/stage.ts';
import { openClient } from './client.ts';
import type { GradientRule } from './gradient-rule.ts';
import { PATIENCE, type Patience } from './http.ts';
import { openMeter } from './meter.ts';
import { measureRule } from './probe.ts';
import { remoteFaults } from './refusals.ts';
import { createModel } from './remote-model.ts';
import { readState } from './state.ts';
import { openTinkerEngine } from './tinker-engine.ts';

export interface OpenedRemote {
  readonly stage: Stage;
  readonly engine: Engine;
  /** How the server applies weights, as it was measured. */
  readonly rule: GradientRule;
  close(): Promise<void>;
}

/** Opens both; what the engine can't do is refused before anything is sent. */
export async function openRemote(
  start: TrainerStart,
  remote: RemoteEngine,
  patience: Patience = PATIENCE,
): Promise<OpenedRemote> {
  const [fault] = remoteFaults(start.config);
  if (fault !== undefined)
    throw inputError('ENGINE_REFUSES', `${fault.field}: ${fault.message}`, fault.remedy ?? undefined);
  const from = start.resumeFrom === null ? start.config.from_checkpoint : null;
  if (from !== null) readState(from, remote);
  const modelConfig = readModelConfig(start.modelFolder);
  const client = openClient(remote, patience);
  let opened: Awaited<ReturnType<typeof openStage>> | null = null;
  try {
    opened = await openStage(start);
    const { close } = opened;
    let { stage } = opened;
    checkModel(await client.models(), remote);
    const session = await client.begin();
    const adapter = { baseModel: remote.baseModel, rank: start.config.lora_r, seed: start.config.seed };
    const trial = await createModel(client, session, adapter);
    const rule = await measureRule(trial, modelConfig.vocabSize);
    await trial.unload();
    const engine = openTinkerEngine({
      client,
      session,
      remote,
      rule,
      config: stage.config,
      modelConfig: { ...modelConfig, eosTokenIds: endTokens(stage.tokenizer, modelConfig.eosTokenIds) },
      meter: openMeter(client.traffic, remote.prices),
      maxCompletionLength: () => stage.maxCompletionLength,
      modelFolder: start.modelFolder,
      parameters: weightCount(modelConfig),
      trainable: adapterSize(modelConfig, start.config.lora_r),
    });
    if (from !== null) await engine.startFrom(from);
    const { trialLength } = stage;
    // There it costs money: only where something depends on it.
    if (trialLength !== undefined)
      stage = { ...stage, ...(await tryLengths({ ...stage, engine }, { ...stage, trialLength })) };
    return {
      stage,
      engine,
      rule,
      close: async () => {
        await engine.dispose();
        await close();
      },
    };
  } catch (error) {
    client.close();
    await opened?.close();
    throw error;
  }
}

async function openStage(start: TrainerStart): Promise<{ readonly stage: Stage; close(): Promise<void> }> {
  const { config, kernelsFile } = start;
  const task = openRunTask(start);
  // Relevance by meaning is computed here, and needs a backend.
  const backend: OpenBackend | null =
    config.relevance_model === null
      ? null
      : await openBackend({ backend: config.backend, threads: config.threads, kernelsFile });
  const meaning = config.relevance_model === null ? null : openMeaning(config.relevance_model);
  const tokens = encodeWritable(start, task);
  const stage: Stage = {
    ...tokens,
    start,
    memory: null,
    config: { ...config, activation_memory_mb: config.activation_memory_mb ?? 0 },
    task: task.fit(start.records, meaning?.similarity),
    decode: (ids) => tokens.tokenizer.decode(ids),
    dispose: () => {
      task.close();
      meaning?.dispose();
    },
  };
  return {
    stage,
    close: async () => {
      stage.dispose();
      await backend?.close();
    },
  };
}

/** A server that lists its models must have this one. */
function checkModel(models: readonly string[], { name, baseModel }: RemoteEngine): void {
  if (models.length === 0 || models.includes(baseModel)) return;
  throw inputError(
    'ENGINE_NO_MODEL',
    `The engine "${name}" doesn't have the model "${baseModel}"; it has ${models.slice(0, 5).join(', ')}`,
    'Change the engine’s base model in Settings, Engines.',
  );
}

/** Numbers of an adapter on every linear layer. */
function adapterSize(config: Parameters<typeof parameterShapes>[0], rank: number): number {
  return [...parameterShapes(config)]
    .filter(([name]) => isLinearWeight(name))
    .reduce((sum, [, [out = 0, width = 0]]) => sum + rank * (out + width), 0);
}
