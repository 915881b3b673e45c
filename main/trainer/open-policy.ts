/** A model on disk, opened for reading only: its tokens, its weights and the adapter over them. */
import { readModelConfig } from '../model/config.ts';
import { loadModel } from '../model/load.ts';
import { disposeAdapter } from '../model/lora.ts';
import { disposeModel } from '../model/model.ts';
import { loadAdapter } from '../model/peft.ts';
import type { Policy } from './policy.ts';

/** Where the parts of a model lie. */
export interface ModelParts {
  /** Folder with config.json and the full weights. */
  readonly base: string;
  /** Folder of the LoRA adapter over them, if any. */
  readonly adapter: string | null;
  /** Folder with the tokenizer: the checkpoint's own where it brings one. */
  readonly tokenizer: string;
}

export interface OpenPolicy {
  readonly policy: Policy;
  dispose(): void;
}

/** Loads weights and adapter. `maxLength` bounds prompt plus completion, in tokens. */
export function openPolicy(parts: ModelParts, maxLength: number): OpenPolicy {
  const model = loadModel(parts.base, maxLength);
  try {
    const adapter = parts.adapter === null ? null : loadAdapter(parts.adapter, model);
    return {
      policy: { model, adapter },
      dispose: () => {
        if (adapter !== null) disposeAdapter(adapter);
        disposeModel(model);
      },
    };
  } catch (error) {
    disposeModel(model);
    throw error;
  }
}

/** The end tokens that the model's own configuration names. */
export function endTokensOf(parts: ModelParts): readonly number[] {
  return readModelConfig(parts.base).eosTokenIds;
}
