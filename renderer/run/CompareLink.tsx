/** Opens Compare with the run's newest checkpoint; {@link ComparisonFailure} says why it can't be offered. */
import { Button } from '@mantine/core';
import { IconArrowsDiff } from '@tabler/icons-react';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { Failed } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { useComparison } from './use-comparison.ts';

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
