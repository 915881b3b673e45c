/**
 * The low-rank part of a product on matrix units, scale·a2·b2, with which a tile's sums begin: a dispatch of its own would
 * read the whole result and write it again for as many steps of K as the rank. Its factors are float32: units of float16
 * take both in two parts, also where a run's compute_dtype lets the layer's own factors be rounded.
 */
import { range } from '../program.ts';
import { type OperandForm, readFour } from './operand.ts';
import { multiply, scaleSums } from './units-multiply.ts';
import { cutOff, placeOf } from './units-panels.ts';
import { LARGEST_OF_LANES, POWER_OF_TWO, weightsScale } from './units-scale.ts';
import { type Reading, strideOf, type Tile, UNIT_LANES } from './units-tile.ts';

/** How a2 [m, r] and b2 are read: [n, r], or [r, n] where the weights aren't transposed. */
export interface LowRank {
  readonly a: OperandForm;
  readonly b: OperandForm;
}

export const lowRankReads = ({ a, b }: LowRank): string => `${readFour('readA2', 'a2', a)}
${readFour('readB2', 'b2', b)}`;

/** Of each product of two numbers in two parts, the part of either: a panel has a quarter of the steps four times. */
const PARTS = { a: ['head', 'head', 'rest', 'rest'], b: ['head', 'rest', 'head', 'rest'] } as const;

/** Four numbers of a lane, of the steps of the rank from `rank0` on. */
interface Four {
  readonly name: string;
  readonly of: 'a' | 'b';
  readonly read: string;
  /** Their place in the factor's panel, and how far the same numbers' next part lies behind. */
  readonly at: string;
  readonly next: number;
  /** Lanes that have such numbers. */
  readonly lanes: number;
}

function foursOf({ transposed }: Reading, tile: Tile, steps: number): readonly Four[] {
  const { rows, columns, depth } = tile;
  /** Of lines along K or across it. */
  const panel = (
    of: Four['of'],
    alongK: boolean,
    count: number,
    read: (line: string, at: string) => string,
  ): Four[] => {
    const [lines, width, stride] = alongK
      ? [count, steps, strideOf(tile, depth)]
      : [steps, count, strideOf(tile, columns)];
    const vectors = (lines * width) / 4;
    return range(Math.ceil(vectors / UNIT_LANES)).map((i) => {
      const [line, vector] = [`${placeOf(i)} / ${width / 4}u`, `${placeOf(i)} % ${width / 4}u`];
      return {
        name: `${of}${i}`,
        of,
        read: read(line, `${vector} * 4u`),
        at: `${line} * ${stride}u + ${vector}`,
        next: alongK ? steps / 4 : steps * stride,
        lanes: Math.min(vectors, UNIT_LANES),
      };
    });
  };
  return [
    ...panel('a', true, rows, (row, k) => `p.scale * readA2(row0 + ${row}, rank0 + ${k}, p.m, p.r)`),
    ...(transposed
      ? panel('b', true, columns, (column, k) => `readB2(column0 + ${column}, rank0 + ${k}, n, p.r)`)
      : panel('b', false, columns, (k, column) => `readB2(rank0 + ${k}, column0 + ${column}, p.r, n)`)),
  ];
}

/** Statements that write the numbers to their places, in two parts on units of float16. */
function put({ name, of, at, next, lanes }: Four, { unit }: Tile): string {
  const panel = of === 'a' ? 'heads' : 'weights';
  const statements =
    unit.element === 'f16'
      ? [
          `let scaled = scale_${of} * ${name};`,
          `let head = ${cutOff('scaled')};`,
          'let rest = scaled - head;',
          ...PARTS[of].map((part, i) => `${panel}[${at} + ${i * next}u] = vec4<f16>(${part});`),
        ]
      : [`${panel}[${at}] = ${name};`];
  return `    ${lanes === UNIT_LANES ? '' : `if (lane < ${lanes}u) `}{
${statements.map((statement) => `      ${statement}`).join('\n')}
    }`;
}

/** Statements that leave scale·a2·b2 in the sums, in the scale of the product's. */
export function lowRank(reading: Reading, tile: Tile): string {
  const { element } = tile.unit;
  const steps = element === 'f16' ? tile.depth / PARTS.a.length : tile.depth;
  const fours = foursOf(reading, tile, steps);
  const loop = (body: string): string => `  for (var rank0 = 0u; rank0 < p.r; rank0 += ${steps}u) {
${fours.map(({ name, read }) => `    let ${name} = ${read};`).join('\n')}
${body}
  }`;
  const sums = loop(`${fours.map((four) => put(four, tile)).join('\n')}
    workgroupBarrier();
${multiply({ ...reading, format: 'f16', rounded: true }, tile)}
    workgroupBarrier();`);
  if (element === 'f32') return sums;
  const scales = ['a', 'b'].map(
    (of) => `  most = max(max(most_${of}.x, most_${of}.y), max(most_${of}.z, most_${of}.w));
${LARGEST_OF_LANES}
  let scale_${of} = ${POWER_OF_TWO};`,
  );
  return `  var most_a = vec4(0.0);
  var most_b = vec4(0.0);
${loop(fours.map(({ name, of }) => `    most_${of} = max(most_${of}, abs(${name}));`).join('\n'))}
${scales.join('\n')}
${sums}
${scaleSums(tile, `scale / scale_a * (${weightsScale(reading.format)} / scale_b)`)}`;
}
