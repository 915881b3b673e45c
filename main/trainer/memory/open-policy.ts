/** A model on disk, opened for inference: tokenizer, weights and adapter. */
import { readModelConfig } from '../../model/config.ts';
import { loadModel } from '../../model/load.ts';
import { disposeAdapter } from '../../model/lora.ts';
import { disposeModel, type Model } from '../../model/model.ts';
import { loadAdapter } from '../../model/peft.ts';
import type { ModelParts } from '../policy/model-parts.ts';
import type { Policy } from '../policy/policy.ts';
import { decideForUse, type MemoryDecision, recordedDecision } from './decide.ts';
import { currentBudget } from './device.ts';
import { storedBytes } from './stored-bytes.ts';

export interface OpenPolicy {
  readonly policy: Policy;
  /** In MiB: what is left for keys, values and activations. */
  readonly activationMb: number;
  dispose(): void;
}

/** Opens the models of a job, one after the other. */
export interface PolicyOpener {
  /** Loads weights and adapter; `maxLength` bounds prompt plus completion, in tokens. Dispose one before the next. */
  open(parts: ModelParts, maxLength: number): OpenPolicy;
  /** Frees the base that was kept for the next model. */
  close(): void;
}

/**
 * Opens models that a job compares. Adapters of one base share its weights, which stay loaded; and all of them are used
 * in the precision that one of them was trained in, the base alone too, or they would differ by it.
 */
export function openPolicies(all: readonly ModelParts[]): PolicyOpener {
  let kept: { readonly base: string; readonly model: Model; readonly decision: MemoryDecision } | null = null;
  const close = (): void => {
    if (kept !== null) disposeModel(kept.model);
    kept = null;
  };
  const baseOf = (base: string, maxLength: number): NonNullable<typeof kept> => {
    if (kept?.base === base && kept.model.maxLength >= maxLength) return kept;
    close();
    const decision = decideForUse(readModelConfig(base), recordedFor(base, all), currentBudget(), storedBytes(base));
    kept = { base, model: loadModel(base, maxLength, decision.precision), decision };
    return kept;
  };
  return {
    open: (parts, maxLength) => {
      const { model, decision } = baseOf(parts.base, maxLength);
      const adapter = parts.adapter === null ? null : loadAdapter(parts.adapter, model);
      const dispose = (): void => {
        if (adapter !== null) disposeAdapter(adapter);
      };
      return { policy: { model, adapter }, activationMb: decision.activationMb, dispose };
    },
    close,
  };
}

/** Opens one model. `beside`: those that are asked the same elsewhere, as if one job compared them. */
export function openPolicy(parts: ModelParts, maxLength: number, beside: readonly ModelParts[] = []): OpenPolicy {
  const opener = openPolicies([parts, ...beside]);
  try {
    const { policy, activationMb, dispose } = opener.open(parts, maxLength);
    return {
      policy,
      activationMb,
      dispose: () => {
        dispose();
        opener.close();
      },
    };
  } catch (error) {
    opener.close();
    throw error;
  }
}

/** The precision that an adapter of this base was trained in; 16 bits if any was. */
function recordedFor(base: string, all: readonly ModelParts[]): Partial<MemoryDecision> {
  const found = all.flatMap((parts) =>
    parts.base === base && parts.adapter !== null ? (recordedDecision(parts.adapter).precision ?? []) : [],
  );
  const precision = found.find((one) => one !== 'float32') ?? found[0];
  return precision === undefined ? {} : { precision };
}
