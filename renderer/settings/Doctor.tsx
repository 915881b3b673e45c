/** What this machine can run: every check, with what to do about it. */
import { Button, CopyButton } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Check } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { useKeys } from '../frame/keys.tsx';
import { reportOf, verdictOf } from './report.ts';
import classes from './Settings.module.css';

const ICONS = { OK: IconCircleCheck, WARN: IconAlertTriangle, FAIL: IconCircleX } as const;

export function Doctor() {
  const { data, error, refetch, isFetching } = useQuery(api.app.doctor.queryOptions());
  const { data: info } = useQuery(api.app.info.queryOptions());
  useKeys(useMemo(() => [{ key: 'r', label: 'Check again', run: () => void refetch() }], [refetch]));
  if (error !== null) return <Failed what="The checks could not be run" error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the machine checks" />;
  return (
    <Panel
      title={verdictOf(data)}
      actions={
        <>
          <CopyButton value={reportOf(data, info?.version ?? '')}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy report'}
              </Button>
            )}
          </CopyButton>
          <Button variant="default" loading={isFetching} onClick={() => void refetch()}>
            Check again
          </Button>
        </>
      }
    >
      <table className={classes.checks}>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">Status</th>
            <th scope="col">What</th>
            <th scope="col">Found</th>
          </tr>
        </thead>
        <tbody>
          {data.map((check) => (
            <Line key={check.name} check={check} />
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Line({ check: { name, status, detail, next } }: { readonly check: Check }) {
  const Icon = ICONS[status];
  return (
    <tr data-status={status}>
      <td className={classes.status}>
        <Icon size={15} aria-hidden="true" /> {status}
      </td>
      <th scope="row">{name}</th>
      <td>
        <span className={classes.detail}>{detail}</span>
        {next !== null && <p className={classes.next}>{next}</p>}
      </td>
    </tr>
  );
}
