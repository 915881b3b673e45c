/** Which architectures load. */
import { GEMMA_4 } from './gemma4.ts';

/** The values of "model_type" that load. */
export const MODEL_TYPES = [
  ...(['llama', 'mistral', 'qwen2', 'qwen3', 'smollm3'] as const),
  ...(['phi3', 'gemma3_text', 'olmo2', 'olmo3', 'ministral3'] as const),
  ...GEMMA_4,
  ...(['lfm2', 'lfm3', 'qwen3_5_text', 'granite', 'granitemoehybrid'] as const),
] as const;
export type ModelType = (typeof MODEL_TYPES)[number];

/** The same for people. */
export const FAMILIES =
  'Llama, Mistral, Ministral 3, Qwen2, Qwen3, Qwen3.5 (dense, text), SmolLM3, Phi-3 and Phi-4-mini, Gemma 3 and 4 (dense, text), OLMo-2, OLMo-3, LFM2 and LFM3 (dense), Granite and Granite 4 (dense)';

/** The class of transformers that each is loaded by. */
export const ARCHITECTURES: Readonly<Record<ModelType, string>> = {
  llama: 'LlamaForCausalLM',
  mistral: 'MistralForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
  smollm3: 'SmolLM3ForCausalLM',
  phi3: 'Phi3ForCausalLM',
  gemma3_text: 'Gemma3ForCausalLM',
  olmo2: 'Olmo2ForCausalLM',
  olmo3: 'Olmo3ForCausalLM',
  ministral3: 'Ministral3ForCausalLM',
  granite: 'GraniteForCausalLM',
  granitemoehybrid: 'GraniteMoeHybridForCausalLM',
  lfm2: 'Lfm2ForCausalLM',
  lfm3: 'Lfm3ForCausalLM',
  qwen3_5_text: 'Qwen3_5ForCausalLM',
  gemma4_text: 'Gemma4ForCausalLM',
  gemma4_unified_text: 'Gemma4UnifiedForCausalLM',
};
