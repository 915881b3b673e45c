/** A small model for tests: the weights of a parity fixture, so that its logits differ as a trained model's do. */
import { fileURLToPath } from 'node:url';
import { loadModel } from '../../main/model/load.ts';
import type { Model } from '../../main/model/model.ts';

/** Llama, 2 layers, width 32, 4 heads on 2 key/value heads, 96 tokens. */
export const TINY = fileURLToPath(new URL('../parity/fixtures/models/llama-untied-f32', import.meta.url));

export function tinyModel(maxLength = 64): Model {
  return loadModel(TINY, maxLength);
}
