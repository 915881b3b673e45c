/** What llama.cpp calls the supported architectures and their tensors, and what it computes differently. */
import { inputError } from '../../errors.ts';
import type { ModelConfig } from '../config.ts';
import type { ModelType } from '../traits.ts';

export interface GgufArchitecture {
  readonly name: string;
  /** RoPE rotates neighbouring pairs of a head's dimensions; Hugging Face's weights pair the two halves. */
  readonly interleaved: boolean;
  /** llama.cpp's names of a layer's modules. */
  readonly layerNames: Readonly<Record<string, string>>;
}

const ATTENTION = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
} as const;
const MLP = { 'mlp.gate_proj': 'ffn_gate', 'mlp.up_proj': 'ffn_up', 'mlp.down_proj': 'ffn_down' } as const;
const LAYER = { input_layernorm: 'attn_norm', ...ATTENTION, post_attention_layernorm: 'ffn_norm', ...MLP } as const;
const AFTER = { post_attention_layernorm: 'post_attention_norm', post_feedforward_layernorm: 'post_ffw_norm' } as const;
const JOINED = { 'self_attn.qkv_proj': 'attn_qkv', 'mlp.gate_up_proj': 'ffn_up' } as const;

/** Null: Braid writes no GGUF of it. */
const ARCHITECTURES: Readonly<Record<ModelType, GgufArchitecture | null>> = {
  llama: { name: 'llama', interleaved: true, layerNames: LAYER },
  mistral: { name: 'llama', interleaved: true, layerNames: LAYER },
  qwen2: { name: 'qwen2', interleaved: false, layerNames: LAYER },
  qwen3: { name: 'qwen3', interleaved: false, layerNames: LAYER },
  smollm3: { name: 'smollm3', interleaved: true, layerNames: LAYER },
  phi3: { name: 'phi3', interleaved: false, layerNames: { ...LAYER, ...JOINED } },
  gemma3_text: {
    name: 'gemma3',
    interleaved: false,
    layerNames: { ...LAYER, ...AFTER, pre_feedforward_layernorm: 'ffn_norm' },
  },
  olmo2: { name: 'olmo2', interleaved: false, layerNames: { ...LAYER, ...AFTER } },
  olmo3: null,
  ministral3: null,
  lfm2: null,
  qwen3_5_text: null,
  gemma4_text: null,
  gemma4_unified_text: null,
  granitemoehybrid: null,
  granite: { name: 'granite', interleaved: true, layerNames: LAYER },
};

/** A model's architecture in llama.cpp; an error where that computes something else than the model. */
export function ggufArchitecture(config: ModelConfig): GgufArchitecture {
  const architecture = ARCHITECTURES[config.modelType];
  const remedy = 'Export the Hugging Face folder without a GGUF file.';
  if (architecture === null)
    throw inputError('UNSUPPORTED_GGUF', `Braid writes no GGUF file of a model of type ${config.modelType}`, remedy);
  const problem = scalingProblem(config) ?? differenceOf(config);
  if (problem === null) return architecture;
  const message = `llama.cpp's "${architecture.name}" can't compute this model: ${problem}`;
  throw inputError('UNSUPPORTED_GGUF', message, remedy);
}

function scalingProblem({ ropeScaling }: ModelConfig): string | null {
  if (ropeScaling === null || ropeScaling.type === 'llama3') return null;
  return `its RoPE is scaled ("${ropeScaling.type}"), which Braid writes into no GGUF file`;
}

/** Layers whose number from 1 is, or isn't, a multiple of `every`: llama.cpp has these patterns built in. */
function layersOf({ numLayers }: ModelConfig, every: number, multiple: boolean): string {
  return [...Array(numLayers).keys()].filter((layer) => ((layer + 1) % every === 0) === multiple).join();
}

function differenceOf(config: ModelConfig): string | null {
  switch (config.modelType) {
    case 'smollm3':
      if (config.noRopeLayers.join() === layersOf(config, 4, true)) return null;
      return 'it leaves RoPE out of every fourth layer, this model of others';
    case 'gemma3_text':
      if (config.windowLayers.join() !== layersOf(config, 6, false))
        return 'it has a sliding window in all but every sixth layer, this model in others';
      if (config.attentionScale !== config.headDim ** -0.5)
        return 'it scales attention by head_dim, this model by another "query_pre_attn_scalar"';
      return config.localRopeTheta === 10000
        ? null
        : 'its local layers rotate with base 10000, this model with another';
    case 'olmo2':
    case 'phi3':
      return config.attentionBias ? 'it has no biases in attention, this model has' : null;
    default:
      return null;
  }
}
