/**
 * Sampling from one row of logits, as composed functions in transformers' order: repetition penalty → temperature →
 * top-k → top-p → min-p → draw. A filtered token's logit becomes -Infinity.
 */

/** Changes a row of logits in place. `seen` are the ids of prompt and completion so far. */
export type LogitsProcessor = (logits: Float32Array, seen: readonly number[]) => void;

export interface SamplingOptions {
  /** 0 means argmax. */
  readonly temperature: number;
  /** 0: all. */
  readonly topK: number;
  readonly topP: number;
  readonly minP: number | null;
  readonly repetitionPenalty: number;
}

/** Every token may be drawn, with the probability that the model gives it. */
export const UNFILTERED = { topK: 0, topP: 1, minP: null, repetitionPenalty: 1 } as const;

/** Seen tokens become less likely: positive logits are divided by the penalty, negative ones multiplied (Keskar et al. 2019). */
export function repetitionPenalty(penalty: number): LogitsProcessor {
  return (logits, seen) => {
    for (const id of new Set(seen)) {
      const logit = logits[id];
      if (logit !== undefined) logits[id] = logit > 0 ? logit / penalty : logit * penalty;
    }
  };
}

/** Divides by the temperature. */
export function temperature(value: number): LogitsProcessor {
  return (logits) => {
    for (let i = 0; i < logits.length; i++) logits[i] = (logits[i] as number) / value;
  };
}

/** Keeps the k largest logits (and those equal to the k-th). */
export function topK(k: number): LogitsProcessor {
  return (logits) => {
    if (k >= logits.length) return;
    const threshold = kthLargest(logits, k);
    for (let i = 0; i < logits.length; i++) if ((logits[i] as number) < threshold) logits[i] = -Infinity;
  };
}

/** The k-th largest number, by quickselect (Hoare 1961) on a copy: to sort a whole vocabulary takes ten times as long. */
function kthLargest(numbers: Float32Array, k: number): number {
  const partly = numbers.slice();
  const wanted = partly.length - k;
  let first = 0;
  let last = partly.length - 1;
  while (first < last) {
    const pivot = partly[(first + last) >> 1] as number;
    let low = first;
    let high = last;
    while (low <= high) {
      while ((partly[low] as number) < pivot) low++;
      while ((partly[high] as number) > pivot) high--;
      if (low > high) break;
      const swapped = partly[low] as number;
      partly[low++] = partly[high] as number;
      partly[high--] = swapped;
    }
    if (wanted <= high) last = high;
    else if (wanted >= low) first = low;
    else break;
  }
  return partly[wanted] as number;
}

/** Keeps the most likely tokens whose total probability first reaches p (Holtzman et al. 2020); always at least one. */
export function topP(p: number): LogitsProcessor {
  return (logits) => {
    const probabilities = softmax(logits);
    const order = likeliest(probabilities, p);
    const kept = new Set(order);
    if (order.length < logits.length) for (let i = 0; i < logits.length; i++) if (!kept.has(i)) logits[i] = -Infinity;
    let mass = 0;
    for (const id of order) {
      if (mass > 0 && mass >= p) logits[id] = -Infinity;
      mass += probabilities[id] as number;
    }
  };
}

/** Ids from the most likely on, at least as many as have a total probability of p: sorting a whole vocabulary takes long. */
function likeliest(probabilities: Float64Array, p: number): number[] {
  for (let least = 1e-2; ; least = least < 1e-9 ? 0 : least / 10) {
    const order: number[] = [];
    let mass = 0;
    for (let id = 0; id < probabilities.length; id++) {
      const probability = probabilities[id] as number;
      if (probability < least) continue;
      order.push(id);
      mass += probability;
    }
    // What rounding makes of a sum in another order is far below this.
    if (least > 0 && mass < p + 1e-9) continue;
    return order.sort((a, b) => (probabilities[b] as number) - (probabilities[a] as number) || a - b);
  }
}

/** Drops tokens less likely than `share` times the most likely one. */
export function minP(share: number): LogitsProcessor {
  return (logits) => {
    const threshold = maximum(logits) + Math.log(share);
    for (let i = 0; i < logits.length; i++) if ((logits[i] as number) < threshold) logits[i] = -Infinity;
  };
}

/** The processors for the options, in order. Temperature 0 (argmax) needs only the penalty. */
export function processors(options: SamplingOptions): readonly LogitsProcessor[] {
  const list: LogitsProcessor[] = [];
  if (options.repetitionPenalty !== 1) list.push(repetitionPenalty(options.repetitionPenalty));
  if (options.temperature === 0) return list;
  if (options.temperature !== 1) list.push(temperature(options.temperature));
  if (options.topK > 0) list.push(topK(options.topK));
  if (options.topP < 1) list.push(topP(options.topP));
  if (options.minP !== null && options.minP > 0) list.push(minP(options.minP));
  return list;
}

/** Whether the options need nothing but plain softmax sampling, so that the backend's own kernel can sample. */
export function isPlain(options: SamplingOptions): boolean {
  return options.repetitionPenalty === 1 && options.topK === 0 && options.topP >= 1 && (options.minP ?? 0) === 0;
}

/** Draws an id from the row's softmax by inverting its cumulative sum at u in [0, 1). */
export function draw(logits: Float32Array, u: number): number {
  const probabilities = softmax(logits);
  let mass = 0;
  let last = 0;
  for (let id = 0; id < probabilities.length; id++) {
    const p = probabilities[id] as number;
    if (p === 0) continue;
    mass += p;
    last = id;
    if (u < mass) return id;
  }
  // Rounding may leave the sum slightly below 1.
  return last;
}

/** The first id with the largest logit. */
export function argmax(logits: Float32Array): number {
  let best = 0;
  for (let id = 1; id < logits.length; id++) if ((logits[id] as number) > (logits[best] as number)) best = id;
  return best;
}

/** Softmax of a row, in float64. */
export function softmax(logits: Float32Array): Float64Array {
  const top = maximum(logits);
  const out = new Float64Array(logits.length);
  let sum = 0;
  for (let id = 0; id < out.length; id++) {
    const weight = Math.exp((logits[id] as number) - top);
    out[id] = weight;
    sum += weight;
  }
  for (let id = 0; id < out.length; id++) out[id] = (out[id] as number) / sum;
  return out;
}

function maximum(values: Float32Array): number {
  let top = -Infinity;
  for (const value of values) if (value > top) top = value;
  return top;
}
