/** Products and layouts of small matrices that the delta rule is made of. */
import { block4x8, block4x16 } from './micro';

/**
 * y[m][n] = x[m][count] · b[count][n], or added to it. m is a multiple of 4, n of 8. The numbers of x lie `xRow` bytes apart
 * from row to row and `xStep` along the sum.
 */
export function multiply(
  m: i32, n: i32, count: i32, x: usize, xRow: usize, xStep: usize, b: usize, bRow: usize, y: usize, yRow: usize, add: bool,
): void {
  let column = 0;
  for (; column + 16 <= n; column += 16) {
    for (let row = 0; row < m; row += 4) {
      const x0 = x + <usize>row * xRow;
      const y0 = y + <usize>row * yRow;
      if (add) {
        block4x16(b, false, 0, bRow, x0, x0 + xRow, x0 + 2 * xRow, x0 + 3 * xRow, xStep, count, y0, y0 + yRow, y0 + 2 * yRow, y0 + 3 * yRow, true);
      } else {
        block4x16(b, false, 0, bRow, x0, x0 + xRow, x0 + 2 * xRow, x0 + 3 * xRow, xStep, count, y0, y0 + yRow, y0 + 2 * yRow, y0 + 3 * yRow, false);
      }
    }
    b += 64;
    y += 64;
  }
  if (column == n) return;
  for (let row = 0; row < m; row += 4) {
    const x0 = x + <usize>row * xRow;
    const y0 = y + <usize>row * yRow;
    block4x8(b, bRow, x0, x0 + xRow, x0 + 2 * xRow, x0 + 3 * xRow, xStep, count, y0, y0 + yRow, y0 + 2 * yRow, y0 + 3 * yRow, add);
  }
}

/** to[columns][rows] = from[rows][columns]ᵀ; both are multiples of 4. */
export function transpose(from: usize, fromLine: usize, rows: i32, columns: i32, to: usize, toLine: usize): void {
  for (let row = 0; row < rows; row += 4) {
    let source = from + <usize>row * fromLine;
    let target = to + (<usize>row << 2);
    for (let column = 0; column < columns; column += 4) {
      const a = v128.load(source);
      const b = v128.load(source + fromLine);
      const c = v128.load(source + 2 * fromLine);
      const d = v128.load(source + 3 * fromLine);
      const ab = v128.shuffle<i32>(a, b, 0, 4, 1, 5);
      const cd = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
      const ab2 = v128.shuffle<i32>(a, b, 2, 6, 3, 7);
      const cd2 = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
      v128.store(target, v128.shuffle<i32>(ab, cd, 0, 1, 4, 5));
      v128.store(target + toLine, v128.shuffle<i32>(ab, cd, 2, 3, 6, 7));
      v128.store(target + 2 * toLine, v128.shuffle<i32>(ab2, cd2, 0, 1, 4, 5));
      v128.store(target + 3 * toLine, v128.shuffle<i32>(ab2, cd2, 2, 3, 6, 7));
      source += 16;
      target += 4 * toLine;
    }
  }
}

/** to = from · diag(factors), lines of 32 numbers. */
export function scaleColumns(from: usize, lines: i32, factors: usize, to: usize): void {
  for (let c: usize = 0; c < 128; c += 16) {
    const factor = v128.load(factors + c);
    for (let line: usize = 0; line < <usize>lines << 7; line += 128) {
      v128.store(to + line + c, f32x4.mul(v128.load(from + line + c), factor));
    }
  }
}

/** sums = the columns' sums of a ∘ b, lines of 32 numbers. */
export function dotColumns(a: usize, b: usize, lines: i32, sums: usize): void {
  for (let c: usize = 0; c < 128; c += 16) {
    let sum = f32x4.splat(0);
    for (let line: usize = 0; line < <usize>lines << 7; line += 128) {
      sum = f32x4.add(sum, f32x4.mul(v128.load(a + line + c), v128.load(b + line + c)));
    }
    v128.store(sums + c, sum);
  }
}
