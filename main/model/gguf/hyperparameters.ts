/** A model's shape and numbers under llama.cpp's keys, without the architecture's name before them. */
import type { ModelConfig } from '../config.ts';
import type { MambaLayers } from '../granite4.ts';
import type { YarnScaling } from '../rope-scaling.ts';
import type { GgufValue } from './file.ts';

type Entries = Readonly<Record<string, GgufValue>>;

export const uint32 = (value: number): GgufValue => ({ type: 'uint32', value });
const float32 = (value: number): GgufValue => ({ type: 'float32', value });
const string = (value: string): GgufValue => ({ type: 'string', value });
const bool = (value: boolean): GgufValue => ({ type: 'bool', value });

export function hyperparameters(config: ModelConfig): Entries {
  const windows = ['gemma3_text', 'olmo3'].includes(config.modelType);
  return {
    vocab_size: uint32(config.vocabSize),
    // llama.cpp knows windows of these alone; within a window the others are right.
    context_length: uint32(Math.min(config.maxPositionEmbeddings, (windows ? null : config.window) ?? Infinity)),
    embedding_length: uint32(config.hiddenSize),
    block_count: uint32(config.numLayers),
    feed_forward_length: uint32(config.intermediateSize),
    'attention.head_count': uint32(config.numHeads),
    'attention.head_count_kv': keyHeads(config),
    'attention.key_length': uint32(config.headDim),
    'attention.value_length': uint32(config.headDim),
    'attention.layer_norm_rms_epsilon': float32(config.rmsNormEps),
    'rope.dimension_count': uint32(config.rotaryDim ?? config.headDim),
    'rope.freq_base': float32(config.ropeTheta),
    ...(windows && config.window !== null && { 'attention.sliding_window': uint32(config.window) }),
    ...(config.modelType === 'olmo3' && config.window !== null && { 'attention.sliding_window_pattern': uint32(4) }),
    ...scaling(config),
    ...(config.queryScale !== null && {
      'rope.scaling.original_context_length': uint32(config.queryScale.originalMaxPositionEmbeddings),
      'attention.temperature_scale': float32(config.queryScale.beta),
    }),
    ...mixers(config),
    ...(['granite', 'granitemoehybrid'].includes(config.modelType) && {
      'attention.scale': float32(config.attentionScale ?? config.headDim ** -0.5),
      embedding_scale: float32(config.embeddingScale),
      residual_scale: float32(config.residualScale),
      logit_scale: float32(config.logitsScale),
      // False: without RoPE.
      'rope.scaling.finetuned': bool(config.noRopeLayers.length === 0),
    }),
  };
}

/** Layers of short convolutions and of Mamba have no keys, by which llama.cpp tells them. */
function keyHeads({ modelType, recurrent, numLayers, numKvHeads }: ModelConfig): GgufValue {
  if (modelType !== 'lfm2' && recurrent?.mixer !== 'mamba') return uint32(numKvHeads);
  const of = (layer: number): number => (recurrent?.layers.includes(layer) ? 0 : numKvHeads);
  return { type: 'int32s', value: Array.from({ length: numLayers }, (_, layer) => of(layer)) };
}

function scaling({ ropeScaling, longRope }: ModelConfig): Entries {
  if (longRope !== null)
    return {
      'rope.scaling.attn_factor': float32(longRope.attentionFactor),
      'rope.scaling.original_context_length': uint32(longRope.originalMaxPositionEmbeddings),
    };
  // Llama 3's is a tensor.
  if (ropeScaling?.type !== 'linear' && ropeScaling?.type !== 'yarn') return {};
  const { type, factor } = ropeScaling;
  return {
    'rope.scaling.type': string(type),
    'rope.scaling.factor': float32(factor),
    ...(type === 'yarn' && yarn(ropeScaling as YarnScaling)),
  };
}

function yarn(scaling: YarnScaling): Entries {
  const times = scaling.attentionFactor / impliedAmplitude(scaling.factor);
  return {
    'rope.scaling.original_context_length': uint32(scaling.originalMaxPositionEmbeddings),
    'rope.scaling.yarn_beta_fast': float32(scaling.betaFast),
    'rope.scaling.yarn_beta_slow': float32(scaling.betaSlow),
    ...(Math.abs(times - 1) > 1e-6 && { 'rope.scaling.attn_factor': float32(times) }),
  };
}

/** What llama.cpp multiplies cos and sin by where a file says nothing else. */
export function impliedAmplitude(factor: number): number {
  return factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1;
}

function mixers({ recurrent, numLayers, rotaryDim, headDim }: ModelConfig): Entries {
  if (recurrent === null) return {};
  if (recurrent.mixer === 'short-convolution') return { 'shortconv.l_cache': uint32(recurrent.taps) };
  if (recurrent.mixer === 'mamba') return stateSizes(recurrent);
  const pairs = (rotaryDim ?? headDim) / 2;
  // Positions of texts, images' rows and columns take turns; for texts all are the same.
  const sections = [Math.ceil(pairs / 3), Math.ceil((pairs - 1) / 3), Math.floor(pairs / 3), 0];
  const { taps, keyDim, keyHeads, valueHeads, valueDim } = recurrent;
  return {
    ...stateSizes({ taps, stateDim: keyDim, groups: keyHeads, heads: valueHeads, headDim: valueDim }),
    'attention.recurrent_layers': {
      type: 'bools',
      value: Array.from({ length: numLayers }, (_, layer) => recurrent.layers.includes(layer)),
    },
    'rope.dimension_sections': { type: 'int32s', value: sections },
  };
}

type StateSizes = Pick<MambaLayers, 'taps' | 'stateDim' | 'groups' | 'heads' | 'headDim'>;

/** Of layers that keep a state, by the names that llama.cpp has from Mamba. */
function stateSizes({ taps, stateDim, groups, heads, headDim }: StateSizes): Entries {
  return {
    'ssm.conv_kernel': uint32(taps),
    'ssm.state_size': uint32(stateDim),
    'ssm.group_count': uint32(groups),
    'ssm.time_step_rank': uint32(heads),
    'ssm.inner_size': uint32(heads * headDim),
  };
}
