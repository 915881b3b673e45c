import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disposeModel, type Model } from '../../main/model/model.ts';
import { readPrompts } from '../../main/model/prefill.ts';
import { openRowsInFlight, type RowsInFlight } from '../../main/model/rows-in-flight.ts';
import { argmax } from '../../main/model/sampler.ts';
import { openTestBackends } from '../backends.ts';
import { tinyModel } from './tiny.ts';

const PROMPT = [5, 9, 33];
const OTHERS = [[7], [60, 61, 62, 63, 64, 65, 66], [1, 2, 3, 4], [8, 9], [90, 3], [44, 45, 46]];

/** Reads a prompt for `count` rows; the logits that they continue with. */
function join(model: Model, flight: RowsInFlight, prompt: readonly number[], count = 1): Float32Array {
  const { kept, logits } = readPrompts(model, null, [prompt], () => undefined);
  flight.join([{ kept, count }]);
  const values = logits.dataSync<'float32'>().slice();
  logits.dispose();
  return values;
}

/** Logits [B][V] after one token of each row. */
function step(flight: RowsInFlight, ids: readonly number[]): Float32Array[] {
  const logits = flight.step(ids);
  const values = logits.dataSync<'float32'>();
  const [, width] = logits.shape;
  const rows = ids.map((_, row) => values.slice(row * width, (row + 1) * width));
  logits.dispose();
  return rows;
}

describe.each(await openTestBackends())('openRowsInFlight on $name', (backend) => {
  let model: Model;
  beforeAll(async () => {
    await backend.use();
    model = tinyModel();
  });
  afterAll(() => disposeModel(model));

  /** Greedy logits of the first prompt while others come as soon as they may after these steps, and leave after two to forty. */
  function follow(arrivals: readonly number[], steps = 50): Float32Array[] {
    const flight = openRowsInFlight(model, null);
    const all = [join(model, flight, PROMPT)];
    let others: { next: number; left: number }[] = [];
    const waiting: number[] = [];
    for (let t = 0; t < steps; t++) {
      if (arrivals.includes(t)) waiting.push(t);
      for (const since of flight.isOpen ? waiting.splice(0) : []) {
        const next = argmax(join(model, flight, OTHERS[since % OTHERS.length] ?? [], 2));
        others.push({ next, left: 2 }, { next, left: 2 + since });
      }
      const [own, ...rest] = step(flight, [argmax(all.at(-1) as Float32Array), ...others.map(({ next }) => next)]);
      all.push(own as Float32Array);
      others = rest.map((logits, i) => ({ next: argmax(logits), left: (others[i]?.left ?? 0) - 1 }));
      const staying = others.flatMap(({ left }, i) => (left > 0 ? [i] : []));
      if (staying.length < others.length) flight.keep([0, ...staying.map((i) => i + 1)]);
      others = others.filter(({ left }) => left > 0);
    }
    flight.dispose();
    return all;
  }

  // A hundred tokens and more: half a minute on a GPU that the processor plays.
  it.skipIf(backend.slow)("computes a row's numbers whatever else is decoded, and leaves nothing behind", () => {
    const before = tf.memory().numTensors;
    const alone = follow([]);
    for (const arrivals of [[0], [3], [0, 1, 2, 5, 6, 7, 8], [10, 11, 35]]) {
      const among = follow(arrivals);
      among.forEach((logits, t) => {
        if (backend.name === 'wasm') expect(logits).toEqual(alone[t]);
        else logits.forEach((value, i) => void expect(value).toBeCloseTo(alone[t]?.[i] ?? 0, 4));
      });
    }
    expect(tf.memory().numTensors).toBe(before);
  });
});
