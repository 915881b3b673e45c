/** Reading of prompts: all of them in one packed pass, which keeps each layer's keys and values, and its states. */
import * as tf from '@tensorflow/tfjs-core';
import { gatherRows } from '../tensor/ops/rows.ts';
import { forward } from './decoder.ts';
import { logitsOf } from './head.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import {
  attendPacked,
  disposeKept,
  type Kept,
  placesOf,
  type Reading,
  type ReadRow,
  readingSequences,
  type Sequences,
} from './sequences.ts';

/** What was read of prompts. */
export interface Prefill {
  readonly kept: Kept;
  readonly places: readonly ReadRow[];
  /** Logits after each prompt's last token, [P, V]. */
  readonly logits: tf.Tensor2D;
}

/** Prefills all prompts in one packed pass, keeping what each layer keeps of them; `onHidden`: what the head reads, [N, D]. */
export function readPrompts(
  model: Model,
  adapter: Adapter | null,
  prompts: readonly (readonly number[])[],
  onLayer: () => void,
  onHidden: (hidden: tf.Tensor2D) => void = () => undefined,
): Prefill {
  const places = placesOf(prompts.map(({ length }) => length));
  const kept: Reading = { kv: [], states: new Map() };
  try {
    return { kept, places, logits: promptLogits(model, adapter, prompts, places, kept, onLayer, onHidden) };
  } catch (error) {
    disposeKept(kept);
    throw error;
  }
}

/** Logits after each prompt's last token [P, V]; what each layer keeps goes to `kept`. */
function promptLogits(
  model: Model,
  adapter: Adapter | null,
  prompts: readonly (readonly number[])[],
  places: Prefill['places'],
  kept: Reading,
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
    const reading = readingSequences(attendPacked(model.config, segments), places, kept);
    const hidden = forward(model, { ids, positions }, adapter, withHeartbeat(reading, onLayer));
    onHidden(hidden);
    const last = gatherRows(
      hidden,
      tf.tensor1d(
        places.map(({ start, length }) => start + length - 1),
        'int32',
      ),
    ); // [P, D]
    return logitsOf(model, last);
  });
}

/** The same, with a call at each layer. */
function withHeartbeat({ attend, recur }: Sequences, onLayer: () => void): Sequences {
  return {
    attend: (...given) => {
      onLayer();
      return attend(...given);
    },
    recur: (...given) => {
      onLayer();
      return recur(...given);
    },
  };
}
