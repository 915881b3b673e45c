/** A summary of the machine: the doctor's findings and the free resources. */
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Fragment, useEffect, useState } from 'react';
import { api } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { bytes, counted } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { When } from '../components/When.tsx';
import { shownChecks, verdictOf } from '../settings/report.ts';
import classes from './Home.module.css';

const icons = { OK: IconCircleCheck, WARN: IconAlertTriangle, FAIL: IconCircleX } as const;
/** The doctor needs the CPU for a moment, so it starts only once the page is usable. */
const AFTER_MS = 1500;

export function Machine() {
  const [isDue, setDue] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  const { data: status } = useQuery(api.app.status.queryOptions());
  const idle = status !== undefined && status.live.length === 0;
  const { data: examined } = useQuery(api.app.examined.queryOptions());
  // Kernels are not timed while a run trains: that would slow the run down and skew the result.
  const isWanted = isDue && idle && examined === null;
  const { data: found, error } = useQuery(api.app.doctor.queryOptions({ enabled: isWanted }));
  const report = found ?? examined?.checks;
  const checks = report && shownChecks(report);
  const machine = status?.machine;
  return (
    <Panel title="This machine" actions={<Link href="/settings/doctor">Doctor</Link>} className={classes.machine ?? ''}>
      {machine !== undefined && (
        <dl className={classes.facts}>
          <dt>CPU</dt>
          <dd className="num">{counted(machine.cores, 'core')}</dd>
          <dt>Memory</dt>
          <dd className="num">
            {bytes(machine.freeMemoryBytes)} of {bytes(machine.memoryBytes)} free
          </dd>
          {machine.gpus.map(({ name, freeBytes, totalBytes }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: equal GPUs have equal names, and their order is fixed.
            <Fragment key={i}>
              <dt>{name}</dt>
              <dd className="num">
                {bytes(freeBytes)}
                {totalBytes !== null && ` of ${bytes(totalBytes)}`} free
              </dd>
            </Fragment>
          ))}
          <dt>Disk</dt>
          <dd className="num">
            {bytes(machine.diskFreeBytes)} of {bytes(machine.diskBytes)} free
          </dd>
        </dl>
      )}
      {error !== null && <Failed what="The machine check did not finish" error={error} />}
      {checks === undefined && error === null && (
        <p className="faint">{idle ? 'Checking the machine …' : 'The machine check starts once no run is training.'}</p>
      )}
      {checks !== undefined && (
        <>
          <p>
            {verdictOf(checks)}
            {found === undefined && examined && (
              <span className="faint">
                {' '}
                · <When at={examined.at} />
              </span>
            )}
          </p>
          <ul className={classes.checks}>
            {checks
              .filter(({ status: found }) => found !== 'OK')
              .map(({ name, status: found, next }) => {
                const Icon = icons[found];
                return (
                  <li key={name} data-status={found}>
                    <Icon size={14} aria-hidden="true" />
                    <span>
                      {found} {name}
                      {next !== null && <em>{next}</em>}
                    </span>
                  </li>
                );
              })}
          </ul>
        </>
      )}
    </Panel>
  );
}
