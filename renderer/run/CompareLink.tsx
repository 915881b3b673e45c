/** Opens Compare with the run's newest checkpoint against the model it started from, on the run's own dataset. */
import { Button } from '@mantine/core';
import { IconArrowsDiff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Link } from '../components/Link.tsx';
import { comparisonOf } from './comparison.ts';

export function CompareLink({ detail }: { readonly detail: RunDetail }) {
  const { data: models } = useQuery(api.models.list.queryOptions());
  const { data: datasets } = useQuery(api.datasets.list.queryOptions());
  if (models === undefined || datasets === undefined) return null;
  const href = comparisonOf(detail, models, datasets);
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
