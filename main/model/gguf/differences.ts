/** In what llama.cpp computes something else than a model, so that it gets no GGUF file. */
import type { ModelConfig } from '../config.ts';
import type { MambaLayers } from '../granite4.ts';

/** Null: it computes the same. */
export function differenceOf(config: ModelConfig): string | null {
  return scalingDifference(config) ?? ownDifference(config);
}

function scalingDifference({ ropeScaling, modelType }: ModelConfig): string | null {
  switch (ropeScaling?.type) {
    case 'dynamic':
      return 'its RoPE grows with the text ("dynamic"), which no GGUF file can say';
    case 'proportional':
      return 'its RoPE rotates a part of each head in proportion ("proportional"), which no GGUF file can say';
    case 'yarn':
      if (!ropeScaling.truncate) return 'it rounds the bounds of YaRN, this model doesn\'t ("truncate")';
      // It reads them of Ministral 3 alone.
      if (modelType === 'ministral3' || (ropeScaling.betaFast === 32 && ropeScaling.betaSlow === 1)) return null;
      return 'its YaRN has "beta_fast" 32 and "beta_slow" 1, this model others';
    default:
      return null;
  }
}

/** Layers whose number from 1 is, or isn't, a multiple of `every`: llama.cpp has these patterns built in. */
function layersOf({ numLayers }: ModelConfig, every: number, multiple: boolean): string {
  return [...Array(numLayers).keys()].filter((layer) => ((layer + 1) % every === 0) === multiple).join();
}

function ownDifference(config: ModelConfig): string | null {
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
    case 'olmo3':
      return olmoDifference(config);
    case 'phi3':
      return biasDifference(config);
    case 'ministral3':
      return ministralDifference(config);
    case 'lfm2':
      return config.recurrent?.mixer === 'short-convolution' && config.recurrent.bias
        ? 'it has no biases in short convolutions, this model has'
        : null;
    case 'qwen3_5_text':
      return qwenDifference(config);
    case 'granitemoehybrid':
      return config.recurrent?.mixer === 'mamba' ? mambaDifference(config, config.recurrent) : null;
    default:
      return null;
  }
}

function biasDifference({ attentionBias }: ModelConfig): string | null {
  return attentionBias ? 'it has no biases in attention, this model has' : null;
}

function olmoDifference(config: ModelConfig): string | null {
  const { windowLayers, localRopeTheta, ropeTheta } = config;
  if (windowLayers.length > 0 && windowLayers.join() !== layersOf(config, 4, false))
    return 'it has a sliding window in all but every fourth layer, this model in others';
  if (windowLayers.length > 0 && localRopeTheta !== null && localRopeTheta !== ropeTheta)
    return 'its layers with a window rotate with the base of the others, this model with another';
  return biasDifference(config);
}

function ministralDifference({ queryScale, ropeScaling }: ModelConfig): string | null {
  const original = ropeScaling?.type === 'yarn' ? ropeScaling.originalMaxPositionEmbeddings : null;
  if (queryScale === null || original === null || original === queryScale.originalMaxPositionEmbeddings) return null;
  return "it scales queries by YaRN's original length, this model by another";
}

function mambaDifference({ mlpBias, attentionBias }: ModelConfig, mamba: MambaLayers): string | null {
  if (mamba.limits[0] > 0 || mamba.limits[1] !== Number.POSITIVE_INFINITY)
    return 'its Mamba layers have no limits of time steps, this model has';
  if (!mamba.convolutionBias) return "its Mamba layers' convolutions have biases, this model's haven't";
  if (mamba.projectionBias || mlpBias || attentionBias) return 'it has no biases in projections, this model has';
  return null;
}

function qwenDifference(config: ModelConfig): string | null {
  const { recurrent } = config;
  if (recurrent?.mixer !== 'gated-delta') return 'it has layers of the delta rule, this model has none';
  if (recurrent.keyDim !== recurrent.valueDim)
    return "the delta rule's keys are as wide as its values, here they aren't";
  return biasDifference(config);
}
