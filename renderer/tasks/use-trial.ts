/** The dry run of a draft, made again whenever it changes; the last result stays until the next one is there. */
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import type { TrialReport, TrialSource } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import type { Draft } from './use-draft.ts';

export interface TrialState {
  readonly report: TrialReport | null;
  /** Of the last result, as the user waited for it. */
  readonly seconds: number;
  /** Whether the result is that of an earlier text. */
  readonly isOld: boolean;
  /** Whether the rewards of the current text are being computed. */
  readonly isComputing: boolean;
  readonly error: Error | null;
}

export function useTrial(draft: Draft, source: TrialSource | null, isEnabled: boolean): TrialState {
  const { data, error, isPlaceholderData, isFetching } = useQuery({
    queryKey: ['trial', draft, source],
    queryFn: async () => {
      const began = performance.now();
      if (source === null) return null;
      const report = await client.tasks.try({ draft, source });
      return { report, seconds: (performance.now() - began) / 1000 };
    },
    enabled: isEnabled && source !== null,
    placeholderData: (before) => before,
    retry: false,
    gcTime: 10_000,
  });
  // An error leaves no data: whoever fixes a fault still sees what the reward gave before it.
  const last = useRef<{ readonly of: TrialSource | null; readonly data: typeof data }>({ of: source, data });
  if (data !== undefined) last.current = { of: source, data };
  const isSame = JSON.stringify(last.current.of) === JSON.stringify(source);
  const shown = data ?? (isSame ? last.current.data : undefined);
  const isOld = isPlaceholderData || data === undefined;
  return { report: shown?.report ?? null, seconds: shown?.seconds ?? 0, isOld, isComputing: isFetching, error };
}
