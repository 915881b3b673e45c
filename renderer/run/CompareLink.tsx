/** Opens Compare with the run's newest checkpoint; {@link ComparisonFailure} says why it can't be offered. */
import { Button } from '@mantine/core';
import { IconArrowsDiff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { comparisonOf } from './comparison.ts';

export function CompareLink({ detail }: { readonly detail: RunDetail }) {
  const { href } = useComparison(detail);
  if (href === null) return null;
  return (
    <Button
      component={Link}
      href={href}
      {...(detail.state !== 'done' && { variant: 'default' })}
      leftSection={<IconArrowsDiff size={14} aria-hidden="true" />}
    >
      Compare with baseline
    </Button>
  );
}

/** Below the header, which has no room for a reason. */
export function ComparisonFailure({ detail }: { readonly detail: RunDetail }) {
  const { error, retry } = useComparison(detail);
  return error !== null && <Failed what="The comparison can't be prepared" error={error} onRetry={retry} />;
}

export interface ComparisonLink {
  /** Null while it is unknown, and where there is nothing to compare. */
  readonly href: string | null;
  /** Why it can't be known; null while that may change by itself. */
  readonly error: Error | null;
  readonly retry: () => void;
}

function useComparison(detail: RunDetail): ComparisonLink {
  const models = useQuery(api.models.list.queryOptions());
  const datasets = useQuery(api.datasets.list.queryOptions());
  const isKnown = models.data !== undefined && datasets.data !== undefined;
  return {
    href: isKnown ? comparisonOf(detail, models.data, datasets.data) : null,
    error: isKnown ? null : (models.error ?? datasets.error),
    retry: () => void Promise.all([models.refetch(), datasets.refetch()]),
  };
}
