/** The local engine: this machine's tensors. It trains a session's parameters in place. */
import * as tf from '@tensorflow/tfjs-core';
import { modelParameters } from '../../model/model.ts';
import type { PromptGroup } from '../../model/pack.ts';
import { parameterCount } from '../../model/parameter.ts';
import { openStops } from '../../model/stop-strings.ts';
import { endTokens } from '../../model/tokenizer.ts';
import type { TurnTaking } from '../../model/turns.ts';
import type { Completion } from '../../samples/completion.ts';
import { allRows } from '../batching/rows.ts';
import type { Engine } from '../engine/engine.ts';
import { planRows, type RowSize, tokenCost, undividedMb } from '../memory/activations.ts';
import { sampleWithin } from '../memory/generate-within.ts';
import { withinMemory } from '../memory/within-memory.ts';
import { openTurnMeter } from '../monitor/turn-meter.ts';
import { accumulateGradients, type Gradients } from '../optim/optimizer.ts';
import { rebaseReference, syncReference } from '../policy/reference.ts';
import { checkWeights } from './finite-weights.ts';
import { checkpointFiles, loadState } from './local-state.ts';
import { microBatchLoss, rowLogps, undividedRows } from './micro-batch-loss.ts';
import { rowGradients } from './row-gradients.ts';
import type { Session } from './session.ts';
import { type SftBatch, sftLoss } from './sft-loss.ts';

/** The backend that computes, as the run reports it. */
export interface LocalBackend {
  readonly name: string;
  readonly threads: number;
  readonly why: string;
}

/** Opens the engine of a session; the session keeps what it owns. */
export function openLocalEngine(
  session: Session,
  backend: LocalBackend = { name: 'unknown', threads: 0, why: '' },
): Engine {
  const { policy, reference, parameters, optimizer, tokenizer, config: own } = session;
  const { vocabSize } = policy.model.config;
  const eosTokenIds = endTokens(tokenizer, policy.model.config.eosTokenIds);
  const meter = openTurnMeter();
  let gradients: Gradients | null = null;
  const add = (more: Gradients): void => {
    gradients = accumulateGradients(gradients, more);
  };
  const drop = (): void => {
    tf.dispose(gradients ?? {});
    gradients = null;
  };
  const within = <T>(work: (config: Session['config']) => T, undivided: () => number): T =>
    withinMemory(
      policy.model,
      own.activation_memory_mb,
      (activation_memory_mb) => work({ ...own, activation_memory_mb }),
      undivided,
    );
  const stops = openStops(tokenizer);
  return {
    describe: () => ({
      ...backend,
      parameters: parameterCount(modelParameters(policy.model)),
      trainable: parameterCount(parameters),
      vocabSize,
      hasReference: reference !== null,
    }),
    sample: async (prompts, { turns, ...sampling }) => {
      const options = { ...sampling, eosTokenIds, ...(stops && { stops }) };
      const sample = (timed?: TurnTaking): Promise<Completion[]> =>
        sampleWithin(policy, prompts, own.activation_memory_mb, { ...options, ...(timed && { turns: timed }) });
      if (turns === undefined) return sample();
      const began = performance.now();
      const completions = await sample({ ...turns, times: meter.times });
      meter.sampled(completions, (performance.now() - began) / 1000);
      return completions;
    },
    logps: async (rows, plan, of) => {
      const asked = of === 'policy' ? policy : reference;
      if (asked === null) throw new Error('Expected a reference, the session has none');
      return rowLogps(asked, plan, rows, own);
    },
    policyLoss: async (config, plan, generation, micro) => {
      const { gradients: more, ...report } = microBatchLoss({ ...session, config }, plan, generation, micro);
      add(more);
      return report;
    },
    targetLoss: async (microBatches) => {
      const { gradients: more, ...report } = within(
        (config) =>
          sftLoss(
            policy,
            parameters,
            microBatches.flatMap((groups) => inParts(session, groups, config)),
          ),
        () => Math.max(...microBatches.map((groups) => undividedMb(rowsOf(groups), tokenCost(policy.model.config)))),
      );
      add(more);
      return report;
    },
    backward: async (rows, groupSize, dlogp) =>
      add(
        within(
          (config) => rowGradients({ ...session, config }, rows, groupSize, dlogp),
          undividedRows(policy, rows, allRows(rows), groupSize),
        ),
      ),
    step: async (learningRate) => {
      try {
        return { gradNorm: optimizer.update(gradients ?? {}, learningRate).gradNorm };
      } finally {
        drop();
      }
    },
    rebase: async () => {
      optimizer.reset();
      if (reference !== null) rebaseReference(reference, policy);
    },
    syncReference: () => {
      if (reference !== null) syncReference(reference, policy, own.ref_model_mixup_alpha);
    },
    save: async () => {
      checkWeights(parameters);
      return checkpointFiles(session);
    },
    load: async (folder) => loadState(folder, session),
    // The session was opened with these weights.
    startFrom: async () => undefined,
    takeMetrics: meter.take,
    dispose: async () => drop(),
  };
}

/** A micro-batch in parts that fit: the loss is a sum over tokens, so splitting doesn't change it. */
function inParts({ policy }: Session, groups: readonly PromptGroup[], within: Session['config']): SftBatch[] {
  const { parts, checkpointing } = planRows(rowsOf(groups), tokenCost(policy.model.config), within);
  return parts.map(({ first, end }) => ({ groups: groups.slice(first, end), checkpointing }));
}

/** The rows of groups with one completion each. */
function rowsOf(groups: readonly PromptGroup[]): RowSize[] {
  return groups.map(({ promptIds, completions }, group) => ({
    group,
    prompt: promptIds.length,
    completion: (completions[0]?.length ?? 1) - 1,
  }));
}
