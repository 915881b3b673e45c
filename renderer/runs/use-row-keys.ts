import { type RefObject, useMemo, useRef } from 'react';
import { useKeys } from '../frame/keys.tsx';

export interface RowKeysOptions {
  /** The runs in the order of the rows. */
  readonly ids: readonly number[];
  /** Scrolls to a row. */
  readonly show: (index: number) => void;
  readonly select: (id: number) => void;
}

/** j and k move from run to run, x selects; Enter opens, as on any link. */
export function useRowKeys(scroller: RefObject<HTMLElement | null>, options: RowKeysOptions): void {
  const now = useRef(options);
  now.current = options;
  const keys = useMemo(() => {
    const at = (): number => {
      const row = document.activeElement?.closest('tr')?.querySelector<HTMLElement>('[data-row]')?.dataset.row;
      return row === undefined ? -1 : Number(row);
    };
    const go = (by: number): void => {
      const { ids, show } = now.current;
      const index = Math.max(0, Math.min(ids.length - 1, at() + by));
      show(index);
      // The row exists once the scroll has rendered.
      requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-row="${index}"]`)?.focus());
    };
    return [
      { key: 'j', label: 'Next run', run: () => go(1) },
      { key: 'k', label: 'Previous run', run: () => go(-1) },
      {
        key: 'x',
        label: 'Select for comparison',
        run: () => {
          const id = now.current.ids[at()];
          if (id !== undefined) now.current.select(id);
        },
      },
    ];
  }, [scroller]);
  useKeys(keys);
}
