/** A request holds at most so many sequences and tokens, or servers refuse it for its size. */
import type { Row } from './rows.ts';

const MAX_SEQUENCES = 128;
const MAX_TOKENS = 400_000;

/** Items in order, in as few chunks as fit. */
export function inChunks<T extends { readonly row: Row | undefined }>(items: readonly T[]): readonly (readonly T[])[] {
  const chunks: T[][] = [];
  let tokens = 0;
  for (const item of items) {
    const size = (item.row?.promptIds.length ?? 0) + (item.row?.ids.length ?? 0);
    const last = chunks.at(-1);
    if (last === undefined || last.length === MAX_SEQUENCES || tokens + size > MAX_TOKENS) {
      chunks.push([item]);
      tokens = size;
    } else {
      last.push(item);
      tokens += size;
    }
  }
  return chunks;
}
