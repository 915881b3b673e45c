/** Several matrices in one dispatch, whose results lie side by side: which of them a workgroup computes. */
import { range } from '../program.ts';

/**
 * WGSL that finds the workgroup's part of `matrices` matrices of p.n0, p.n1 … columns, in tiles of so many columns each.
 * `tile` is an expression of the workgroup's number among the tiles of all. Declares `matrix`, the matrix's number, `tile`
 * within it, `before`, the columns of those before it, and `n`, its own.
 */
export function findMatrix(matrices: number, columns: number, tile: string): string {
  const next = range(matrices - 1).map((i) => {
    const tiles = `((p.n${i} + ${columns - 1}u) / ${columns}u)`;
    return `  if (matrix == ${i}u && tile >= ${tiles}) {
    matrix = ${i + 1}u;
    tile -= ${tiles};
    before += p.n${i};
    n = p.n${i + 1};
  }`;
  });
  return `  var matrix = 0u;
  var tile = ${tile};
  var before = 0u;
  var n = p.n0;
${next.join('\n')}`;
}
