/** The order of the corpus table. Pure. */
import type { TextHeading } from '../../main/api/contract/index.ts';

export type TextColumn = 'title' | 'words' | 'source' | 'addedAt';

export interface TextOrder {
  readonly by: TextColumn;
  readonly descending: boolean;
}

/** A sorted copy; the sort is stable. */
export function sortTexts(texts: readonly TextHeading[], { by, descending }: TextOrder): TextHeading[] {
  const sign = descending ? -1 : 1;
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
  return [...texts].sort((a, b) => {
    const [x, y] = [a[by], b[by]];
    const order = typeof x === 'string' && typeof y === 'string' ? collator.compare(x, y) : Number(x) - Number(y);
    return order * sign;
  });
}

/** The order after a click on a column header: the same column reverses, numbers start with the largest. */
export function nextOrder(order: TextOrder, by: TextColumn): TextOrder {
  if (order.by === by) return { by, descending: !order.descending };
  return { by, descending: by === 'words' || by === 'addedAt' };
}
