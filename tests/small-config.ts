import type { ModelConfig } from '../main/model/config.ts';
import { PLAIN_TRAITS } from '../main/model/traits.ts';

/** A Llama of one small layer, from which tests make the model that they need. */
export const SMALL: ModelConfig = {
  ...PLAIN_TRAITS,
  modelType: 'llama',
  vocabSize: 96,
  hiddenSize: 32,
  intermediateSize: 48,
  numLayers: 1,
  numHeads: 4,
  numKvHeads: 2,
  headDim: 16,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: null,
  maxPositionEmbeddings: 64,
  tieWordEmbeddings: false,
  attentionBias: false,
  qkNorm: false,
  eosTokenIds: [],
  padTokenId: 0,
};
