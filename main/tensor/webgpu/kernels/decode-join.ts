/** What follows attention in the same dispatch: the sum over stretches of keys, and the low-rank numbers of what comes next. */
import { range } from '../program.ts';
import { ATOMIC_SUMS } from './decode-finish.ts';

/** Lanes that share a line of A. */
const SHARE = 8;

export const JOIN_PARAMETERS = ['norms', 'a', 'lowOut', 'lines', 'room', 'tickets'] as const;

export const joinDeclarations = (lanes: number, split: boolean): string => `
var<workgroup> shares: array<f32, ${lanes}>;
${split ? `var<workgroup> ticket: u32;${ATOMIC_SUMS}` : ''}`;

/** Bytes of workgroup memory. */
export const joinBytes = (lanes: number): number => 4 * lanes + 16;

/** Words that a stretch leaves: vectors of the heads' weighted values, then of each head the largest score and the weights' sum. */
export const stretchWords = (vectors: number, group: number): number => 4 * group * vectors + 2 * group;

/**
 * Statements after which the last of a row's and head's workgroups has the sums over its stretches in o… and mass…, and
 * the others have ended. `columns` repeats a statement for each of a lane's vectors.
 */
export function joinStretches(
  vectors: number,
  group: number,
  stretch: number,
  columns: (statement: (part: number) => string) => string,
): string {
  const size = stretchWords(vectors, group);
  const heads = 4 * group * vectors;
  return `
  let count = (total + ${stretch - 1}u) / ${stretch}u;
  let counter = row * p.kvHeads + kvHead;
  let home = p.tickets + counter * p.stretches * ${size}u;
  if (count > 1u) {
${columns(
  (part) => `
      let at = home + wg.z * ${size}u;
      let g = i / ${vectors}u;
      ${range(4)
        .map((c) => `publish(at + 4u * i + ${c}u, o${part}[${c}]);`)
        .join(' ')}
      if (i % ${vectors}u == 0u) {
        publish(at + ${heads}u + 2u * g, most[g]);
        publish(at + ${heads}u + 2u * g + 1u, mass${part});
      }`,
)}
    workgroupBarrier();
    if (lane == 0u) { ticket = atomicAdd(&sums[counter], 1u); }
  }
  if (lane == 0u && count == 1u) { ticket = 0u; }
  if (workgroupUniformLoad(&ticket) + 1u < count) { return; }
  if (count > 1u) {
    if (lane == 0u) { atomicStore(&sums[counter], 0u); }
    if (lane < ${group}u) {
      var top = -1e30;
      for (var s = 0u; s < count; s++) { top = max(top, take(home + s * ${size}u + ${heads}u + 2u * lane, 1u, 2u).x); }
      tops[lane] = top;
    }
    workgroupBarrier();
${columns(
  (part) => `
      let g = i / ${vectors}u;
      var sum = vec4<f32>(0.0);
      var all = 0.0;
      for (var s = 0u; s < count; s++) {
        let at = home + s * ${size}u;
        let value = take(at + 4u * i, 1u, 4u);
        let whole = take(at + ${heads}u + 2u * g, 1u, 2u);
        let weight = exp(whole.x - tops[g]);
        sum = fma(vec4(weight), value, sum);
        all = fma(weight, whole.y, all);
        ${range(4)
          .map((c) => `atomicStore(&sums[at + 4u * i + ${c}u], 0u);`)
          .join(' ')}
      }
      o${part} = sum;
      mass${part} = all;`,
)}
    workgroupBarrier();
    if (lane < ${2 * group}u) {
      for (var s = 0u; s < count; s++) { atomicStore(&sums[home + s * ${size}u + ${heads}u + lane], 0u); }
    }
  }`;
}

/** Statements that leave the low-rank numbers of the heads' results, which lie in `qs`. */
export const leaveHeads = (vectors: number, group: number, lanes: number): string => `
  workgroupBarrier();
  let lines = 4u * p.lines;
  for (var line0 = 0u; line0 < lines; line0 += ${lanes / SHARE}u) {
    let line = min(line0 + lane / ${SHARE}u, lines - 1u);
    let a = p.a + (line * heads + kvHead * ${group}u) * ${vectors}u;
    var sum = 0.0;
    for (var i = lane % ${SHARE}u; i < ${group * vectors}u; i += ${SHARE}u) { sum += dot(qs[i], extra[a + i]); }
    shares[lane] = sum;
    workgroupBarrier();
    let vector = line0 / 4u + lane;
    if (lane < ${lanes / SHARE / 4}u && vector < p.lines) {
      var low = vec4<f32>(0.0);
      for (var i = 0u; i < ${SHARE}u; i++) {
        let at = ${4 * SHARE}u * lane + i;
        low += vec4(shares[at], shares[at + ${SHARE}u], shares[at + ${2 * SHARE}u], shares[at + ${3 * SHARE}u]);
      }
      out[p.lowOut + (kvHead * p.room + row) * p.lines + vector] = low;
    }
    workgroupBarrier();
  }`;
