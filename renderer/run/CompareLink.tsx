/** Opens Compare with the run's newest checkpoint against the model it started from, on the run's own dataset. */
import { Button } from '@mantine/core';
import { IconAlertTriangle, IconArrowsDiff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { Link } from '../components/Link.tsx';
import { comparisonOf } from './comparison.ts';

export function CompareLink({ detail }: { readonly detail: RunDetail }) {
  const models = useQuery(api.models.list.queryOptions());
  const datasets = useQuery(api.datasets.list.queryOptions());
  if (models.data === undefined || datasets.data === undefined) {
    const error = models.error ?? datasets.error;
    if (error === null) return null;
    return (
      <Button
        variant="default"
        title={failureOf(error).message}
        leftSection={<IconAlertTriangle size={14} aria-hidden="true" />}
        onClick={() => void Promise.all([models.refetch(), datasets.refetch()])}
      >
        Comparison can't be prepared: try again
      </Button>
    );
  }
  const href = comparisonOf(detail, models.data, datasets.data);
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
