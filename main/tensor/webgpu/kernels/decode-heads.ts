/** How attention in decoding gets a step's queries, keys and values into the workgroup's memory. */

/** Queries, keys and values that are ready, each in a buffer of its own. */
export const readApart = (lanes: number, vectors: number, group: number): string => `
  for (var i = lane; i < ${group * vectors}u; i += ${lanes}u) { qs[i] = q[first + i]; }
  if (lane < ${vectors}u) {
    let source = (row * p.kvHeads + kvHead) * ${vectors}u + lane;
    fresh[lane] = k[source];
    fresh[${vectors}u + lane] = v[source];
  }
  workgroupBarrier();`;

/** Queries, keys and values side by side in a row: heads are normed and rotated by the row's position. */
export function readRaw(lanes: number, vectors: number, group: number, norms: string | null): string {
  const half = vectors / 2;
  const turn = (place: string, count: string): string => `
  for (var i = lane; i < ${count}; i += ${lanes}u) {
    let j = i % ${half}u;
    let at = (i / ${half}u) * ${vectors}u + j;
    let c = trig[angle + j];
    let s = trig[p.positions * ${half}u + angle + j];
    let a = ${place}[at];
    let b = ${place}[at + ${half}u];
    ${place}[at] = a * c - b * s;
    ${place}[at + ${half}u] = b * c + a * s;
  }`;
  return `
  let width = (heads + 2u * p.kvHeads) * ${vectors}u;
  for (var i = lane; i < ${group * vectors}u; i += ${lanes}u) {
    qs[i] = qkv[row * width + kvHead * ${group * vectors}u + i];
  }
  for (var i = lane; i < ${2 * vectors}u; i += ${lanes}u) {
    let part = heads + (i / ${vectors}u) * p.kvHeads + kvHead;
    fresh[i] = qkv[row * width + part * ${vectors}u + i % ${vectors}u];
  }
  workgroupBarrier();
${
  norms !== null
    ? `  if (lane <= ${group}u) {
    var squares = 0.0;
    for (var c = 0u; c < ${vectors}u; c++) {
      var x = fresh[c];
      if (lane < ${group}u) { x = qs[lane * ${vectors}u + c]; }
      squares += dot(x, x);
    }
    let inverse = inverseSqrt(squares / ${4 * vectors}.0 + p.eps);
    for (var c = 0u; c < ${vectors}u; c++) {
      if (lane < ${group}u) { qs[lane * ${vectors}u + c] *= inverse * ${norms}c]; }
      else { fresh[c] *= inverse * ${norms}${vectors}u + c]; }
    }
  }
  workgroupBarrier();`
    : ''
}
  let angle = (prefixLength + p.step) * ${half}u;
${turn('qs', `${group * half}u`)}
${turn('fresh', `${half}u`)}
  workgroupBarrier();`;
}
