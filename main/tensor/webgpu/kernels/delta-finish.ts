/** The gradient of the gated delta rule, from that of heads of length 1 to what its projections gave. */
import { program } from '../program.ts';
import { ENTRY, GATES, LINES } from './delta-sweeps.ts';
import { joined, joining } from './reduce.ts';

// N packed tokens, H value heads, K and V widths of a head's keys and values.

const HEAD_LANES = 64;

/**
 * rows [N, H, 2, V] of x and du, grads [N, H, 2, K] of q and k, of value heads that share them → dMixed like mixed, dB
 * [N, H], and terms [N, H], of which those from a token to the end sum up to dg. A workgroup a key head of a token.
 */
export const finishHeads = program({
  name: 'GatedDelta heads',
  parameters: ['tiles', 'keyHeads', 'valueHeads', 'keyDim', 'valueDim'],
  buffers: {
    mixed: 'f32',
    unit: 'f32',
    gates: 'f32',
    rows: 'f32',
    grads: 'f32',
    dMixed: 'rw f32',
    terms: 'rw f32',
    dB: 'rw f32',
  },
  workgroup: HEAD_LANES,
  declarations: `fn join(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> { return a + b; }${joining('vec4<f32>', HEAD_LANES)}`,
  main: `  if (group >= p.tiles) { return; }
  let token = group / p.keyHeads;
  let head = group % p.keyHeads;
  let times = p.valueHeads / p.keyHeads;
  let allKeys = p.keyHeads * p.keyDim;
  let line = token * (2u * allKeys + p.valueHeads * p.valueDim);
  let queries = line + head * p.keyDim;
  let keys = queries + allKeys;
  let units = 2u * group * p.keyDim;
  var projected = vec2<f32>(0.0);
  for (var n = 0u; n < times; n++) {
    let value = head * times + n;
    let i = token * p.valueHeads + value;
    var own = vec4<f32>(0.0);
    for (var c = lane; c < p.keyDim; c += ${HEAD_LANES}u) {
      own.x += unit[units + c] * grads[2u * i * p.keyDim + c];
      own.y += unit[units + p.keyDim + c] * grads[(2u * i + 1u) * p.keyDim + c];
    }
    let strength = gates[${GATES}u * i + 1u];
    let values = line + 2u * allKeys + value * p.valueDim;
    for (var c = lane; c < p.valueDim; c += ${HEAD_LANES}u) {
      let right = rows[2u * i * p.valueDim + c];
      let dU = rows[(2u * i + 1u) * p.valueDim + c];
      own.z += right * dU;
      own.w += mixed[values + c] * dU;
      dMixed[values + c] = strength * dU;
    }
    workgroupBarrier();
${joined('sums', 'own', HEAD_LANES)}
    projected += sums.xy;
    if (lane == 0u) {
      terms[i] = sums.x - strength * sums.w;
      dB[i] = sums.z * strength * (1.0 - strength);
    }
  }
  var squares = vec4<f32>(0.0);
  for (var c = lane; c < p.keyDim; c += ${HEAD_LANES}u) {
    squares.x += mixed[queries + c] * mixed[queries + c];
    squares.y += mixed[keys + c] * mixed[keys + c];
  }
  workgroupBarrier();
${joined('lengths', 'squares', HEAD_LANES)}
  let ofQuery = inverseSqrt((lengths.x + 1e-6) * f32(p.keyDim));
  let ofKey = inverseSqrt(lengths.y + 1e-6);
  for (var c = lane; c < p.keyDim; c += ${HEAD_LANES}u) {
    var both = vec2<f32>(0.0);
    for (var n = 0u; n < times; n++) {
      let i = 2u * (token * p.valueHeads + head * times + n) * p.keyDim + c;
      both += vec2<f32>(grads[i], grads[i + p.keyDim]);
    }
    dMixed[queries + c] = ofQuery * (both.x - unit[units + c] * projected.x * f32(p.keyDim));
    dMixed[keys + c] = ofKey * (both.y - unit[units + p.keyDim + c] * projected.y);
  }`,
});

/**
 * dA and dDecay [N, H]. ⟨S, D⟩ after a token is that before it and β v·du more, and o·do of it is the token's own, so dg
 * is the sum of q·dq − β v·du over its token, those after it, and the sequences that continue it. An invocation a head.
 */
export const finishGates = program({
  name: 'GatedDelta decays',
  parameters: ['first', 'count', 'valueHeads', 'writes'],
  buffers: { terms: 'f32', gates: 'f32', table: 'i32', totals: 'rw f32', dA: 'rw f32', dDecay: 'rw f32' },
  workgroup: LINES,
  main: `  let tile = group * ${LINES}u + lane;
  if (tile >= p.count * p.valueHeads) { return; }
  let sequence = p.first + tile / p.valueHeads;
  let head = tile % p.valueHeads;
  let entry = ${ENTRY}u * sequence;
  let members = u32(table[entry + 4u]);
  var sum = 0.0;
  for (var member = members; member < members + u32(table[entry + 5u]); member++) {
    sum += totals[member * p.valueHeads + head];
  }
  let start = u32(table[entry]);
  for (var left = u32(table[entry + 1u]); left > 0u; left--) {
    let i = (start + left - 1u) * p.valueHeads + head;
    // Nothing of what was before is left: what remains of the sum is rounding.
    sum = select(sum + terms[i], 0.0, gates[${GATES}u * i] < 1e-7);
    dA[i] = sum * gates[${GATES}u * i + 4u];
    dDecay[i] = sum * gates[${GATES}u * i + 3u];
  }
  if (p.writes == 1u) { totals[tile] = sum; }`,
});
