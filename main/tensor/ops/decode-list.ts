/**
 * A decoding step as a list of ops on a backend's own buffers, for backends that run them below tfjs. A mixer says in
 * these ops what its step is (`DecodeMixer.record`); a backend brings a kernel for each (`DecodeKernels`).
 */
import type * as tf from '@tensorflow/tfjs-core';
import type { KernelWork } from '../op-costs.ts';
import type { AttentionShape } from './attention.ts';
import type { DecodeKernels, DecodeLinear } from './decode-kernels.ts';
import {
  attentionWork,
  columnsWork,
  convolutionWork,
  deltaWork,
  linearWorks,
  normWorks,
  pairWork,
  ropeWork,
  rowsWork,
  type SlotTable,
} from './decode-works.ts';
import type { RopeTables } from './rope.ts';

// B rows in flight.

/** What a step is written in. Each call is an op; where it takes several of something, they may run side by side. */
export interface DecodeList<Buffer> extends Pick<DecodeKernels<Buffer>, 'norm' | 'attention' | 'convolution'> {
  /** A buffer [B, columns] until `release`. */
  room(columns: number): Buffer;
  /** Gives back all room that was taken. */
  release(): void;
  linears(x: Buffer, ...pairs: readonly (readonly [layer: DecodeLinear, y: Buffer])[]): void;
  headNorms(...each: readonly (readonly [x: Buffer, columns: number, weight: tf.Tensor1D])[]): void;
  ropes(tables: RopeTables, ...each: readonly (readonly [x: Buffer, columns: number])[]): void;
  swiglu: DecodeKernels<Buffer>['swiglu'];
  columns: DecodeKernels<Buffer>['columns'];
  deltaRule: DecodeKernels<Buffer>['deltaRule'];
}

/** How a backend runs the ops of a step. */
export interface DecodeOps {
  readonly table: SlotTable;
  /** Of each row's token. */
  positions(): ArrayLike<number>;
  /** Takes parts of which none reads what another writes. `works` describes them to a profile. */
  op(works: () => readonly KernelWork[], ...parts: readonly (() => void)[]): void;
  /** Called before each layer. */
  begin(): void;
}

/** A list of a backend's kernels. */
export function openDecodeList<Buffer>(
  shape: AttentionShape,
  kernels: DecodeKernels<Buffer>,
  { table, positions, op }: DecodeOps,
): DecodeList<Buffer> {
  const rows = table.length / 3;
  const rooms = openRooms(kernels.buffer);
  return {
    ...rooms,
    norm: (x, weight, change, y) =>
      op(
        () => normWorks(rows, weight, change !== null),
        () => kernels.norm(x, weight, change, y),
      ),
    linears: (x, ...pairs) =>
      op(
        () => pairs.flatMap(([layer]) => linearWorks(rows, layer)),
        ...pairs.map(
          ([layer, y]) =>
            () =>
              kernels.linear(x, layer, y),
        ),
      ),
    headNorms: (...each) =>
      op(
        () => [
          rowsWork(
            'RmsNorm',
            rows,
            each.reduce((sum, [, columns]) => sum + columns, 0),
            ...each.map(([, , weight]) => weight),
          ),
        ],
        ...each.map((given) => () => kernels.headNorm(...given)),
      ),
    ropes: (tables, ...each) => {
      const heads = each.map(([, columns]) => columns / shape.headDim);
      op(
        () => [ropeWork(rows, heads, tables)],
        ...each.map(
          ([x, columns]) =>
            () =>
              kernels.rope(x, columns, tables),
        ),
      );
    },
    attention: (...given) =>
      op(
        () => [attentionWork(shape, table, positions())],
        () => kernels.attention(...given),
      ),
    swiglu: (gate, up, columns) =>
      op(
        () => [pairWork('SwiGlu', rows, columns)],
        () => kernels.swiglu(gate, up, columns),
      ),
    columns: (how, width, lines, ...given) =>
      op(
        () => [columnsWork(how, rows, width * lines)],
        () => kernels.columns(how, width, lines, ...given),
      ),
    convolution: (weights, ...given) =>
      op(
        () => [convolutionWork(rows, weights.weight)],
        () => kernels.convolution(weights, ...given),
      ),
    deltaRule: (delta, ...given) =>
      op(
        () => [deltaWork(rows, delta)],
        () => kernels.deltaRule(delta, ...given),
      ),
  };
}

/** Buffers by their width, each given out again once it was released. */
function openRooms<Buffer>(make: (columns: number) => Buffer): Pick<DecodeList<Buffer>, 'room' | 'release'> {
  const made = new Map<number, Buffer[]>();
  let free = new Map<number, Buffer[]>();
  return {
    room: (columns) => {
      const known = free.get(columns)?.pop();
      if (known !== undefined) return known;
      const buffer = make(columns);
      made.set(columns, [...(made.get(columns) ?? []), buffer]);
      return buffer;
    },
    release: () => {
      free = new Map([...made].map(([columns, buffers]) => [columns, [...buffers]]));
    },
  };
}
