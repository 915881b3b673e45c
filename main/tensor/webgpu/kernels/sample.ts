/** One token a row from softmax(logits / temperature), by inverting the cumulative sum at the row's uniform. */
import type { Register } from '../kernel.ts';
import { program } from '../program.ts';
import { firstLargest, joined, joining, placing } from './reduce.ts';

const LANES = 256;

/** Parts of a row, each a workgroup's: one for the whole row would leave most of a GPU idle. */
const MOST_PARTS = 32;
const LEAST_PART = 1024;

/**
 * Statements that find the `stretch` of `count` in which `left` of their `mass` is used up, and leave what it still has
 * to cover there.
 */
export const drawnStretch = (mass: string, count: string): string => `
    var stretch = 0u;
    var found = false;
    for (var l = 0u; l < ${count} && !found; l++) {
      if (${mass}[l] <= 0.0) { continue; }
      stretch = l;
      found = left < ${mass}[l];
      left -= select(${mass}[l], 0.0, found);
    }
    // Where rounding leaves something over, the last id with any mass is taken.
    if (!found) { left = 3.4028234e38; }`;

/** Of each part of each row: its largest logit, that one's id (exact in a float up to 2^24), and the sum of exp(logit - largest). */
const summarise = program({
  name: 'SampleRows, parts',
  parameters: ['vocabulary', 'length', 'inverse:f32'],
  buffers: { logits: 'f32', parts: 'rw vec4<f32>' },
  workgroup: LANES,
  declarations: `
fn join(a: f32, b: f32) -> f32 { return a + b; }
${joining('f32', LANES)}
${placing(LANES)}`,
  main: `  let base = wg.y * p.vocabulary;
  let first = wg.x * p.length;
  let end = min(p.vocabulary, first + p.length);
  var top = -3.4028234e38;
  var at = first;
  for (var i = first + lane; i < end; i += ${LANES}u) {
    if (logits[base + i] > top) { top = logits[base + i]; at = i; }
  }
${firstLargest(LANES)}
  let most = best[0];
  var sum = 0.0;
  for (var i = first + lane; i < end; i += ${LANES}u) { sum += exp((logits[base + i] - most) * p.inverse); }
${joined('mass', 'sum', LANES)}
  if (lane == 0u) { parts[wg.y * wgs.x + wg.x] = vec4<f32>(most, f32(place[0]), mass, 0.0); }`,
});

/** Finds the part, then the lane's stretch of it, then the id, in the order of the ids. */
const sample = program({
  name: 'SampleRows',
  parameters: ['rows', 'vocabulary', 'length', 'parts', 'greedy', 'inverse:f32'],
  buffers: { logits: 'f32', uniforms: 'f32', summaries: 'vec4<f32>', ids: 'rw i32', logps: 'rw f32' },
  workgroup: LANES,
  declarations: `
var<workgroup> masses: array<f32, ${MOST_PARTS}>;
var<workgroup> mass: array<f32, ${LANES}>;`,
  main: `  if (group >= p.rows) { return; }
  let base = group * p.vocabulary;
  var most = -3.4028234e38;
  var id = 0u;
  for (var l = 0u; l < p.parts; l++) {
    let part = summaries[group * p.parts + l];
    if (part.x > most || l == 0u) {
      most = part.x;
      id = u32(part.y);
    }
  }
  if (lane < p.parts) {
    let part = summaries[group * p.parts + lane];
    masses[lane] = select(0.0, part.z * exp((part.x - most) * p.inverse), part.z > 0.0);
  }
  workgroupBarrier();
  var total = 0.0;
  for (var l = 0u; l < p.parts; l++) { total += masses[l]; }
  var left = uniforms[group] * total;
  var first = 0u;
  {
${drawnStretch('masses', 'p.parts')}
    first = stretch * p.length;
  }
  let end = min(p.vocabulary, first + p.length);
  let length = (p.length + ${LANES - 1}u) / ${LANES}u;
  let own = first + lane * length;
  var sum = 0.0;
  for (var i = own; i < min(end, own + length); i++) { sum += exp((logits[base + i] - most) * p.inverse); }
  mass[lane] = sum;
  workgroupBarrier();
  if (lane != 0u) { return; }
  if (p.greedy == 0u) {
${drawnStretch('mass', `${LANES}u`)}
    let begin = first + stretch * length;
    for (var i = begin; i < min(end, begin + length); i++) {
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
    const parts = Math.min(MOST_PARTS, Math.ceil(vocabulary / LEAST_PART));
    const length = Math.ceil(vocabulary / parts);
    const [given, uniforms] = [backend.buffer(logits), backend.buffer(input('uniforms'))];
    const results = outputs.map((tensor) => backend.buffer(tensor));
    const greedy = attrs.temperature === 0;
    const inverse = greedy ? 1 : 1 / attrs.temperature;
    const parameters = [rows, vocabulary, length, parts, greedy ? 1 : 0, inverse];
    const summaries = backend.gpu.take(16 * rows * parts);
    try {
      backend.gpu.run(summarise, [given, summaries], [vocabulary, length, inverse], [parts, rows, 1]);
      backend.gpu.run(sample, [given, uniforms, summaries, ...results], parameters, rows);
    } finally {
      backend.gpu.give(summaries);
    }
    return outputs;
  });
}
