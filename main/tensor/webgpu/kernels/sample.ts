/** One token a row from softmax(logits / temperature), by inverting the cumulative sum at the row's uniform. */
import type { Register } from '../kernel.ts';
import { program } from '../program.ts';

const LANES = 256;

/**
 * Statements that find the `stretch` in which `left` of the lanes' `mass` is used up, and leave what it still has to
 * cover there.
 */
export const drawnStretch = (lanes: number): string => `
    var stretch = 0u;
    var found = false;
    for (var l = 0u; l < ${lanes}u && !found; l++) {
      if (mass[l] <= 0.0) { continue; }
      stretch = l;
      found = left < mass[l];
      left -= select(mass[l], 0.0, found);
    }
    // Where rounding leaves something over, the last id with any mass is taken.
    if (!found) { left = 3.4028234e38; }`;

/** Each lane sums a stretch of the row, in the order of the ids; the first lane then finds the stretch and the id. */
const sample = program({
  name: 'SampleRows',
  parameters: ['rows', 'vocabulary', 'greedy', 'inverse:f32'],
  buffers: { logits: 'f32', uniforms: 'f32', ids: 'rw i32', logps: 'rw f32' },
  workgroup: LANES,
  declarations: `
var<workgroup> best: array<f32, ${LANES}>;
var<workgroup> place: array<u32, ${LANES}>;
var<workgroup> mass: array<f32, ${LANES}>;`,
  main: `  if (group >= p.rows) { return; }
  let base = group * p.vocabulary;
  let length = (p.vocabulary + ${LANES - 1}u) / ${LANES}u;
  let first = min(p.vocabulary, lane * length);
  let end = min(p.vocabulary, first + length);
  var top = -3.4028234e38;
  var at = first;
  for (var i = first; i < end; i++) {
    if (logits[base + i] > top) { top = logits[base + i]; at = i; }
  }
  best[lane] = top;
  place[lane] = at;
  workgroupBarrier();
  for (var half = ${LANES / 2}u; half > 0u; half /= 2u) {
    if (lane < half) {
      let other = lane + half;
      // Stretches are in the order of the ids: of equals the lower lane has the first.
      if (best[other] > best[lane] || (best[other] == best[lane] && place[other] < place[lane])) {
        best[lane] = best[other];
        place[lane] = place[other];
      }
    }
    workgroupBarrier();
  }
  let most = best[0];
  var sum = 0.0;
  for (var i = first; i < end; i++) { sum += exp((logits[base + i] - most) * p.inverse); }
  mass[lane] = sum;
  workgroupBarrier();
  if (lane != 0u) { return; }
  var total = 0.0;
  for (var l = 0u; l < ${LANES}u; l++) { total += mass[l]; }
  var id = place[0];
  if (p.greedy == 0u) {
    var left = uniforms[group] * total;
${drawnStretch(LANES)}
    let begin = stretch * length;
    for (var i = begin; i < min(p.vocabulary, begin + length); i++) {
      let e = exp((logits[base + i] - most) * p.inverse);
      if (e > 0.0) { id = i; }
      left -= e;
      if (left < 0.0) { break; }
    }
  }
  ids[group] = i32(id);
  logps[group] = (logits[base + id] - most) * p.inverse - log(total);`,
});

export function registerSample(register: Register): void {
  register<{ temperature: number }>('SampleRows', ({ backend, input, attrs }) => {
    const logits = input('logits');
    const [rows = 0, vocabulary = 0] = logits.shape;
    const outputs = [backend.output([rows], 'int32'), backend.output([rows])];
    const buffers = [logits, input('uniforms'), ...outputs].map((tensor) => backend.buffer(tensor));
    const greedy = attrs.temperature === 0;
    backend.gpu.run(sample, buffers, [rows, vocabulary, greedy ? 1 : 0, greedy ? 1 : 1 / attrs.temperature], rows);
    return outputs;
  });
}
