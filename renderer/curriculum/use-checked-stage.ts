/**
 * The stage whose pre-flight check is open. It takes minutes with a large model, so a reload opens it again; leaving the
 * screen closes it.
 */
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import { api } from '../api/client.ts';

export interface CheckedStage {
  readonly id: number;
  /** Open before the reload: the check that runs, or has ended, will do. */
  readonly kept: boolean;
}

export function useCheckedStage(): readonly [CheckedStage | null, (id: number | null) => void] {
  const { data: info } = useQuery(api.app.info.queryOptions());
  const key = info === undefined ? null : `braid.check.${info.workspace}`;
  const [checked, setChecked] = useState<CheckedStage | null>(null);
  useEffect(() => {
    if (key === null) return;
    const id = Number(sessionStorage.getItem(key));
    if (id > 0) setChecked((now) => now ?? { id, kept: true });
    // A reload skips this.
    return () => sessionStorage.removeItem(key);
  }, [key]);
  const check = useCallback(
    (id: number | null) => {
      setChecked(id === null ? null : { id, kept: false });
      if (key === null) return;
      if (id === null) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, String(id));
    },
    [key],
  );
  return [checked, check];
}
