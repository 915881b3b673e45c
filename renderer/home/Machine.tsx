/** The machine in short: what the doctor found, and what is free. */
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { bytes } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { When } from '../components/When.tsx';
import { verdictOf } from '../settings/report.ts';
import classes from './Home.module.css';

const icons = { OK: IconCircleCheck, WARN: IconAlertTriangle, FAIL: IconCircleX } as const;
/** The doctor computes for a moment: the page is shown, and can be used, before it begins. */
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
  // While something trains the kernels are not timed: it would cost the run, and tell of it more than of the machine.
  const isWanted = isDue && idle && examined === null;
  const { data: found, error } = useQuery(api.app.doctor.queryOptions({ enabled: isWanted }));
  const checks = found ?? examined?.checks;
  const machine = status?.machine;
  return (
    <Panel title="This machine" actions={<Link href="/settings/doctor">Doctor</Link>} className={classes.machine ?? ''}>
      {machine !== undefined && (
        <dl className={classes.facts}>
          <dt>processor</dt>
          <dd className="num">{machine.cores} cores</dd>
          <dt>memory</dt>
          <dd className="num">
            {bytes(machine.freeMemoryBytes)} of {bytes(machine.memoryBytes)} free
          </dd>
          <dt>disk</dt>
          <dd className="num">
            {bytes(machine.diskFreeBytes)} of {bytes(machine.diskBytes)} free
          </dd>
        </dl>
      )}
      {error !== null && <Failed what="The doctor did not end" error={error} />}
      {checks === undefined && error === null && (
        <p className="faint">{idle ? 'The doctor looks …' : 'The doctor waits until nothing trains.'}</p>
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
