/**
 * Sampling with filters, in the order of model/sampler.ts: repetition penalty → temperature → top-k → top-p → min-p →
 * draw. Every filter is a bound on the logits, found three bits at a time over keys that are ordered as the floats are: no sorting.
 */
import type { FilterAttrs } from '../../ops/sample.ts';
import { groupsFor, type Register, sizeOf } from '../kernel.ts';
import { program } from '../program.ts';
import { joined, joining } from './reduce.ts';
import { drawnStretch } from './sample.ts';

const LANES = 256;

/** Seen tokens become less likely, once each: `seen` are places in logits [rows, V]. */
const penalise = program({
  name: 'RepetitionPenalty',
  parameters: ['n', 'penalty:f32'],
  buffers: { logits: 'rw f32', seen: 'i32' },
  workgroup: LANES,
  main: `  let i = group * ${LANES}u + lane;
  if (i >= p.n) { return; }
  let x = logits[seen[i]];
  logits[seen[i]] = select(x * p.penalty, x / p.penalty, x > 0.0);`,
});

/** Bits of a key that one pass over the row finds: each of its values is tried at once. */
const BITS = 3;
const PASSES = Math.ceil(32 / BITS);

/**
 * Statements that set `bound` to the largest key for which `sum`, of all numbers whose key is at least it, is `enough`.
 * The last pass finds the two bits that are left.
 */
const largestKey = (bound: string, sum: string, enough: string): string => `
    for (var sweep = 0u; sweep < ${PASSES}u; sweep++) {
      let shift = select(${32 - BITS}u - ${BITS}u * sweep, 0u, sweep == ${PASSES - 1}u);
      let low = vec4(${bound}) | (vec4(1u, 2u, 3u, 4u) << vec4(shift));
      let high = vec4(${bound}) | (vec4(5u, 6u, 7u, 7u) << vec4(shift));
      var mineLow = vec4<f32>(0.0);
      var mineHigh = vec4<f32>(0.0);
      for (var i = lane; i < p.vocabulary; i += ${LANES}u) {
        let x = logits[base + i] * p.inverse;
        let key = vec4(keyOf(x));
        let number = vec4<f32>(${sum});
        mineLow += select(vec4<f32>(0.0), number, key >= low);
        mineHigh += select(vec4<f32>(0.0), number, key >= high);
      }
    ${joined('allLow', 'mineLow', LANES)}
    ${joined('allHigh', 'mineHigh', LANES)}
      // Fewer numbers have a larger key: as many candidates hold as the bits' value says.
      let held = select(vec4(0u), vec4(1u), allLow >= vec4(${enough}));
      let heldHigh = select(vec4(0u), vec4(1u, 1u, 1u, 0u), allHigh >= vec4(${enough}));
      let more = held.w + heldHigh.x + heldHigh.y + heldHigh.z;
      ${bound} |= (held.x + held.y + held.z + select(more, 0u, sweep == ${PASSES - 1}u)) << shift;
    }`;

/** A row a workgroup. Counts are floats: exact up to 2^24, more than any vocabulary. */
const sample = program({
  name: 'SampleFiltered',
  parameters: ['rows', 'vocabulary', 'topK', 'inverse:f32', 'topP:f32', 'logMinP:f32'],
  buffers: { logits: 'f32', uniforms: 'f32', ids: 'rw i32' },
  workgroup: LANES,
  declarations: `
var<private> adding: bool;
fn join(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> { return select(max(a, b), a + b, adding); }
${joining('vec4<f32>', LANES)}
var<workgroup> ties: array<u32, ${LANES}>;
var<workgroup> mass: array<f32, ${LANES}>;
/** Ordered as the floats are. */
fn keyOf(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}
fn valueOf(key: u32) -> f32 { return bitcast<f32>(select(~key, key & 0x7fffffffu, (key & 0x80000000u) != 0u)); }`,
  main: `  if (group >= p.rows) { return; }
  let base = group * p.vocabulary;
  adding = false;
  var highest = -3.4028234e38;
  for (var i = lane; i < p.vocabulary; i += ${LANES}u) { highest = max(highest, logits[base + i] * p.inverse); }
${joined('tops', 'vec4(highest)', LANES)}
  let top = tops.x;
  workgroupBarrier();
  adding = true;
  // Top-k keeps those equal to the k-th.
  var least = 0u;
  if (p.topK > 0u && p.topK < p.vocabulary) {
${largestKey('least', '1.0', 'f32(p.topK)')}
  }
  // Top-p keeps the first ids of those that are equal where its mass is reached.
  var nucleus = 0u;
  var mostTies = p.vocabulary;
  if (p.topP < 1.0) {
    var own = 0.0;
    for (var i = lane; i < p.vocabulary; i += ${LANES}u) {
      let x = logits[base + i] * p.inverse;
      if (keyOf(x) >= least) { own += exp(x - top); }
    }
${joined('whole', 'vec4(own)', LANES)}
    let wanted = p.topP * whole.x;
    {
${largestKey('nucleus', 'select(0.0, exp(x - top), keyOf(x) >= least)', 'wanted')}
    }
    var above = 0.0;
    for (var i = lane; i < p.vocabulary; i += ${LANES}u) {
      let x = logits[base + i] * p.inverse;
      if (keyOf(x) >= least && keyOf(x) > nucleus) { above += exp(x - top); }
    }
${joined('before', 'vec4(above)', LANES)}
    mostTies = u32(max(1.0, ceil((wanted - before.x) / exp(valueOf(nucleus) - top))));
  }
  let first = min(p.vocabulary, lane * ((p.vocabulary + ${LANES - 1}u) / ${LANES}u));
  let end = min(p.vocabulary, first + (p.vocabulary + ${LANES - 1}u) / ${LANES}u);
  var equal = 0u;
  for (var i = first; i < end; i++) { equal += select(0u, 1u, keyOf(logits[base + i] * p.inverse) == nucleus); }
  ties[lane] = equal;
  workgroupBarrier();
  var tie = 0u;
  for (var l = 0u; l < lane; l++) { tie += ties[l]; }
  var sum = 0.0;
  for (var i = first; i < end; i++) {
    let x = logits[base + i] * p.inverse;
    let key = keyOf(x);
    let kept = key >= least && x >= top + p.logMinP && (key > nucleus || (key == nucleus && tie < mostTies));
    tie += select(0u, 1u, key == nucleus);
    sum += select(0.0, exp(x - top), kept);
  }
  mass[lane] = sum;
  workgroupBarrier();
  if (lane != 0u) { return; }
  var total = 0.0;
  for (var l = 0u; l < ${LANES}u; l++) { total += mass[l]; }
  var left = uniforms[group] * total;
${drawnStretch('mass', `${LANES}u`)}
  tie = 0u;
  for (var l = 0u; l < stretch; l++) { tie += ties[l]; }
  let length = (p.vocabulary + ${LANES - 1}u) / ${LANES}u;
  var id = 0u;
  for (var i = stretch * length; i < min(p.vocabulary, (stretch + 1u) * length); i++) {
    let x = logits[base + i] * p.inverse;
    let key = keyOf(x);
    let kept = key >= least && x >= top + p.logMinP && (key > nucleus || (key == nucleus && tie < mostTies));
    tie += select(0u, 1u, key == nucleus);
    let e = select(0.0, exp(x - top), kept);
    if (e > 0.0) { id = i; }
    left -= e;
    if (left < 0.0) { break; }
  }
  ids[group] = i32(id);`,
});

/** What stands for no min-p: any number is above it. */
const NO_BOUND = -3e38;

export function registerSampleFiltered(register: Register): void {
  register<FilterAttrs>('SampleFiltered', ({ backend, input, attrs }) => {
    const { temperature, topK, topP, minP } = attrs;
    const logits = input('logits');
    const [rows = 0, vocabulary = 0] = logits.shape;
    const out = backend.output([rows], 'int32');
    const buffers = [logits, input('uniforms'), out].map((tensor) => backend.buffer(tensor));
    const parameters = [rows, vocabulary, topK, 1 / temperature, topP, minP > 0 ? Math.log(minP) : NO_BOUND];
    backend.gpu.run(sample, buffers, parameters, rows);
    return out;
  });
  register<{ penalty: number }>('RepetitionPenalty', ({ backend, input, attrs }) => {
    const seen = input('seen');
    const n = sizeOf(seen);
    const buffers = [backend.bufferToChange(input('logits')), backend.buffer(seen)];
    backend.gpu.run(penalise, buffers, [n, attrs.penalty], groupsFor(n, LANES));
    return backend.share(input('logits'), input('logits').shape);
  });
}
