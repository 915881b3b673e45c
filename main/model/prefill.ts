/** Reading of prompts: all of them in one packed pass, which keeps each layer's keys and values. */
import * as tf from '@tensorflow/tfjs-core';
import type { PrefixKv } from '../tensor/ops/decode-attention.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { attendPacked, forward } from './decoder.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';

/** What was read of prompts. */
export interface Prefill {
  readonly kv: readonly PrefixKv[];
  readonly places: readonly { readonly start: number; readonly length: number }[];
  /** Logits after each prompt's last token, [P, V]. */
  readonly logits: tf.Tensor2D;
}

/** Prefills all prompts in one packed pass, keeping each layer's keys and values; `onHidden`: what the head reads, [N, D]. */
export function readPrompts(
  model: Model,
  adapter: Adapter | null,
  prompts: readonly (readonly number[])[],
  onLayer: () => void,
  onHidden: (hidden: tf.Tensor2D) => void = () => undefined,
): Prefill {
  let total = 0;
  const places = prompts.map(({ length }) => {
    total += length;
    return { start: total - length, length };
  });
  const kv: PrefixKv[] = [];
  try {
    return { kv, places, logits: promptLogits(model, adapter, prompts, places, kv, onLayer, onHidden) };
  } catch (error) {
    tf.dispose(kv.flatMap(({ k, v }) => [k, v]));
    throw error;
  }
}

/** Logits after each prompt's last token [P, V]; each layer's keys and values go to `kv`. */
function promptLogits(
  model: Model,
  adapter: Adapter | null,
  prompts: readonly (readonly number[])[],
  places: Prefill['places'],
  kv: PrefixKv[],
  onLayer: () => void,
  onHidden: (hidden: tf.Tensor2D) => void,
): tf.Tensor2D {
  return tf.tidy(() => {
    const ids = tf.tensor1d(prompts.flat(), 'int32');
    const positions = tf.tensor1d(
      prompts.flatMap((prompt) => prompt.map((_, i) => i)),
      'int32',
    );
    const segments = tf.tensor2d(
      places.flatMap(({ start, length }) => [start, length, 0, 0]),
      [places.length, 4],
      'int32',
    );
    const attend = attendPacked(model.config, segments);
    const hidden = forward(model, { ids, positions }, adapter, (layer, q, k, v) => {
      kv.push({ k: tf.keep(k), v: tf.keep(v) });
      onLayer();
      return attend(layer, q, k, v);
    });
    onHidden(hidden);
    const last = gatherRows(
      hidden,
      tf.tensor1d(
        places.map(({ start, length }) => start + length - 1),
        'int32',
      ),
    ); // [P, D]
    return tf.matMul(last, model.head.value, false, true) as tf.Tensor2D;
  });
}
