/**
 * Dispatcher of the fused transformer kernels.
 */
import {
  ATTENTION,
  ATTENTION_DELTA,
  ATTENTION_GRAD_GROUP,
  ATTENTION_GRAD_KEYS,
  ATTENTION_GRAD_ROWS,
  CONVOLUTION,
  CONVOLUTION_GRAD,
  CONVOLUTION_STEP,
  DECODE_ATTENTION,
  DELTA_RULE,
  DELTA_RULE_GRAD,
  DELTA_STEP,
  GELU,
  LAYER_NORM,
  LOG_SOFTMAX_GRAD_TILE,
  LOG_SOFTMAX_TILE,
  PACK_PREFIX,
  RMS_NORM,
  RMS_NORM_GRAD_WEIGHT,
  RMS_NORM_GRAD_X,
  ROPE,
  SAMPLE_ROW,
  STATE_SPACE_STEP,
  SUM_CHUNKS,
  SWIGLU,
  SWIGLU_GRAD,
} from '../ids';
import { attention } from './attention';
import { attentionDelta, attentionGradGroup, attentionGradKeys, attentionGradRows } from './attention-grad';
import { convolution, convolutionGrad, convolutionStep } from './convolution';
import { decodeAttention, packPrefix } from './decode';
import { deltaRule } from './delta-rule';
import { deltaRuleGrad } from './delta-rule-grad';
import { deltaStep } from './delta-step';
import { stateSpaceStep } from './state-space-step';
import { gelu } from './gelu';
import { layerNorm } from './layer-norm';
import { rmsNorm, rmsNormGradWeight, rmsNormGradX, sumChunks } from './rmsnorm';
import { rope } from './rope';
import { sampleRow } from './sample';
import { logSoftmaxGradTile, logSoftmaxTile } from './softmax';
import { swiGlu, swiGluGrad } from './swiglu';

/** Runs one tile of one fused kernel. */
export function runFused(kernel: i32, args: usize, tile: i32, scratch: usize): void {
  switch (kernel) {
    case RMS_NORM:
      return rmsNorm(args, tile, scratch);
    case RMS_NORM_GRAD_X:
      return rmsNormGradX(args, tile, scratch);
    case RMS_NORM_GRAD_WEIGHT:
      return rmsNormGradWeight(args, tile, scratch);
    case SUM_CHUNKS:
      return sumChunks(args, tile, scratch);
    case ROPE:
      return rope(args, tile, scratch);
    case SWIGLU:
      return swiGlu(args, tile, scratch);
    case SWIGLU_GRAD:
      return swiGluGrad(args, tile, scratch);
    case LAYER_NORM:
      return layerNorm(args, tile, scratch);
    case GELU:
      return gelu(args, tile, scratch);
    case ATTENTION:
      return attention(args, tile, scratch);
    case ATTENTION_DELTA:
      return attentionDelta(args, tile, scratch);
    case ATTENTION_GRAD_GROUP:
      return attentionGradGroup(args, tile, scratch);
    case ATTENTION_GRAD_KEYS:
      return attentionGradKeys(args, tile, scratch);
    case ATTENTION_GRAD_ROWS:
      return attentionGradRows(args, tile, scratch);
    case DECODE_ATTENTION:
      return decodeAttention(args, tile, scratch);
    case PACK_PREFIX:
      return packPrefix(args, tile, scratch);
    case LOG_SOFTMAX_TILE:
      return logSoftmaxTile(args, tile, scratch);
    case LOG_SOFTMAX_GRAD_TILE:
      return logSoftmaxGradTile(args, tile, scratch);
    case SAMPLE_ROW:
      return sampleRow(args, tile, scratch);
    case CONVOLUTION:
      return convolution(args, tile, scratch);
    case CONVOLUTION_GRAD:
      return convolutionGrad(args, tile, scratch);
    case CONVOLUTION_STEP:
      return convolutionStep(args, tile, scratch);
    case DELTA_RULE:
      return deltaRule(args, tile, scratch);
    case DELTA_RULE_GRAD:
      return deltaRuleGrad(args, tile, scratch);
    case DELTA_STEP:
      return deltaStep(args, tile, scratch);
    case STATE_SPACE_STEP:
      return stateSpaceStep(args, tile, scratch);
    default:
      unreachable();
  }
}
