/** Gathering rows of a table, and adding rows back into one (the gradient). */
import { intArg, pointerArg } from './simd';
import { widenLines } from './widen';

/**
 * Tile: a range of picked rows. Parameters: table, indices, out, N, D, rows a tile, whether the table is bfloat16.
 * Index -1 gives zeros.
 */
export function gatherRows(args: usize, tile: i32, scratch: usize): void {
  const table = pointerArg(args, 0);
  const indices = pointerArg(args, 1);
  const out = pointerArg(args, 2);
  const rowBytes = (<usize>intArg(args, 4)) << 2;
  const rowsATile = intArg(args, 5);
  const isHalf = intArg(args, 6) != 0;
  const first = tile * rowsATile;
  const last = min(intArg(args, 3), first + rowsATile);
  for (let n = first; n < last; n++) {
    const row = load<i32>(indices + ((<usize>n) << 2));
    const to = out + <usize>n * rowBytes;
    if (row < 0) memory.fill(to, 0, rowBytes);
    else if (isHalf) widenLines(table + <usize>row * (rowBytes >> 1), 0, 1, intArg(args, 4), to);
    else memory.copy(to, table + <usize>row * rowBytes, rowBytes);
  }
}

/**
 * Tile: a block of the result, which it clears and then fills from all rows of dy in their order, so that sums don't
 * depend on threads. Parameters: dy, indices, out, N, D, R; block rows, block columns, blocks across. Indices outside
 * the table are skipped.
 */
export function scatterAddRows(args: usize, tile: i32, scratch: usize): void {
  const indices = pointerArg(args, 1);
  const count = intArg(args, 3);
  const width = intArg(args, 4);
  const across = intArg(args, 8);
  const firstRow = (tile / across) * intArg(args, 6);
  const lastRow = min(intArg(args, 5), firstRow + intArg(args, 6));
  const firstColumn = (tile % across) * intArg(args, 7);
  const columns = min(width - firstColumn, intArg(args, 7));
  const rowBytes = (<usize>width) << 2;
  const dy = pointerArg(args, 0) + ((<usize>firstColumn) << 2);
  const out = pointerArg(args, 2) + ((<usize>firstColumn) << 2);

  for (let row = firstRow; row < lastRow; row++) memory.fill(out + <usize>row * rowBytes, 0, (<usize>columns) << 2);
  for (let n = 0; n < count; n++) {
    const row = load<i32>(indices + ((<usize>n) << 2));
    if (row >= firstRow && row < lastRow) addRow(dy + <usize>n * rowBytes, out + <usize>row * rowBytes, columns);
  }
}

/** Tile: a range of rows, each x's plus one row. Parameters: row, x, y, N, D, rows a tile. y may be x. */
export function addToRows(args: usize, tile: i32, scratch: usize): void {
  const columns = intArg(args, 4);
  const perTile = intArg(args, 5);
  const last = min(intArg(args, 3), (tile + 1) * perTile);
  const rowBytes = (<usize>columns) << 2;
  const x = pointerArg(args, 1);
  const y = pointerArg(args, 2);
  for (let n = tile * perTile; n < last; n++) {
    const offset = <usize>n * rowBytes;
    if (x != y) memory.copy(y + offset, x + offset, rowBytes);
    addRow(pointerArg(args, 0), y + offset, columns);
  }
}

export function addRow(from: usize, to: usize, columns: i32): void {
  let column = 0;
  for (; column + 4 <= columns; column += 4) {
    v128.store(to, f32x4.add(v128.load(to), v128.load(from)));
    from += 16;
    to += 16;
  }
  for (; column < columns; column++) {
    store<f32>(to, load<f32>(to) + load<f32>(from));
    from += 4;
    to += 4;
  }
}
