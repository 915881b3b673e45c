/** Whether a model can be written as GGUF, from its JSON files: no tensors are created, so the host may ask it. */
import { BraidError } from '../../errors.ts';
import { readModelConfig } from '../../model/config.ts';
import { ggufMetadata } from '../../model/gguf/metadata.ts';
import type { ModelParts } from './model-parts.ts';

export { ggufNote } from '../../model/gguf/normalizers.ts';
export type { WeightsBack } from '../../model/gguf/weights-back.ts';

/** Why it can't; null: it can. */
export function ggufProblem({ base, tokenizer }: Pick<ModelParts, 'base' | 'tokenizer'>): string | null {
  try {
    ggufMetadata(readModelConfig(base), tokenizer, { name: '', type: 'F16' });
    return null;
  } catch (error) {
    if (error instanceof BraidError) return error.message;
    throw error;
  }
}
