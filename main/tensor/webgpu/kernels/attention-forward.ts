/** The program of packed attention's forward pass: a block of rows over its keys, with a running softmax. */
import { type Program, program, variants } from '../program.ts';
import { type AttentionKey, productsOf } from './attention-products.ts';
import {
  BLOCK,
  FIRST_SCORE,
  FOURS,
  KEYS_OF_ROWS,
  LINES,
  OPEN_KEYS,
  OPEN_ROWS,
  programOf,
  RAISE,
  scoreLine,
  scoreLines,
} from './attention-tile.ts';

export const forwardProgram = variants((key: AttentionKey): Program => {
  const products = productsOf(key, 1);
  const rows = scoreLines(products);
  const line = (i: number): string => scoreLine(products, i);
  const seen = (i: number): string => `among(u0 + ${FIRST_SCORE}, seen${i})`;
  return program({
    ...programOf(products, 'PackedAttention'),
    parameters: ['heads', 'kvHeads', 'group', 'scale:f32', 'skip'],
    buffers: {
      q: 'vec4<f32>',
      k: 'vec4<f32>',
      v: 'vec4<f32>',
      blocks: 'i32',
      ...(key.unit !== null && { scales: 'f32' }),
      out: 'rw vec4<f32>',
      lse: 'rw f32',
    },
    declarations: `
${products.declarations}
${LINES}
// Of each row: what each of its lanes found, and what its sums are multiplied by.
var<workgroup> found: array<f32, ${BLOCK * FOURS}>;
var<workgroup> factors: array<f32, ${BLOCK}>;
var<workgroup> raised: atomic<u32>;
${KEYS_OF_ROWS}`,
    main: `
${OPEN_ROWS}
${products.open({ q: 'scales[0]', k: 'scales[1]', v: 'scales[2]' })}
${rows
  .map(
    (i) => `  let seen${i} = seenBy(firstRow + ${line(i)});
  var most${i} = -1e30;
  var mass${i} = 0.0;`,
  )
  .join('\n')}
${products.declareSums('o')}
  for (var u0 = 0u; u0 < total; u0 += ${BLOCK}u) {
${OPEN_KEYS}
${products.scoresOf('s', 'q', 'k')}
    if (lane == 0u) { atomicStore(&raised, 0u); }
${rows
  .map(
    (i) => `    let x${i} = select(vec4(-1e30), p.scale * s${i}, ${seen(i)});
    found[${line(i)} * ${FOURS}u + lane % ${FOURS}u] = max(max(x${i}.x, x${i}.y), max(x${i}.z, x${i}.w));`,
  )
  .join('\n')}
    workgroupBarrier();
${rows
  .map(
    (i) => `    var top${i} = most${i};
    for (var c = 0u; c < ${FOURS}u; c++) { top${i} = max(top${i}, found[${line(i)} * ${FOURS}u + c]); }
    if (top${i} > most${i} + ${RAISE}.0) { atomicStore(&raised, 1u); }`,
  )
  .join('\n')}
    if (workgroupUniformLoad(&raised) != 0u) {
${rows
  .map(
    (i) => `      let shrink${i} = exp(most${i} - top${i});
      most${i} = top${i};
      mass${i} *= shrink${i};
      if (lane % ${FOURS}u == 0u) { factors[${line(i)}] = shrink${i}; }`,
  )
  .join('\n')}
      workgroupBarrier();
${products.multiplySums('o')}
    }
${rows
  .map(
    (i) => `    let p${i} = select(vec4(0.0), exp(min(x${i} - most${i}, vec4(${RAISE}.0))), ${seen(i)});
    mass${i} += dot(p${i}, vec4(1.0));`,
  )
  .join('\n')}
${products.keepWeights('probabilities', (i) => `p${i}`)}
${products.addProducts('o', 'v')}
  }
  workgroupBarrier();
${rows.map((i) => `  found[${line(i)} * ${FOURS}u + lane % ${FOURS}u] = mass${i};`).join('\n')}
  workgroupBarrier();
${rows
  .map(
    (i) => `  mass${i} = 0.0;
  for (var c = 0u; c < ${FOURS}u; c++) { mass${i} += found[${line(i)} * ${FOURS}u + c]; }
  if (lane % ${FOURS}u == 0u) {
    factors[${line(i)}] = 1.0 / max(mass${i}, 1e-30);
    if (firstRow + ${line(i)} < rowsOfSegment) { lse[own[${line(i)}]] = most${i} + log(mass${i}); }
  }`,
  )
  .join('\n')}
  workgroupBarrier();
${products.storeSums('o', 'probabilities', 'v', ({ vector, line: row, column }) => `if (firstRow + ${row} < rowsOfSegment) { out[own[${row}] * ${products.vectors}u + ${column}] = ${vector} * factors[${row}]; }`)}`,
  });
});
