/** The status bar: live runs and jobs, free memory and disk, notices. */
import { Progress } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { AppStatus, JobStatus, LiveStatus } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { connection } from '../api/connection.ts';
import { backendText, bytes, duration, score } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { PlainButton } from '../components/PlainButton.tsx';
import { Silence } from '../components/Silence.tsx';
import { useCancelJob } from '../components/use-cancel-job.ts';
import { shownState, waitsFor } from '../run/live-words.ts';
import classes from './Frame.module.css';
import { NoticesMenu } from './NoticesMenu.tsx';

export function StatusBar() {
  const state = useSyncExternalStore(connection.subscribe, connection.get);
  const { data: status } = useQuery(api.app.status.queryOptions({ refetchInterval: 10_000 }));
  if (state.kind === 'expired') {
    return (
      <footer className={classes.status} data-tone="bad">
        Not connected. Saved work is safe.
      </footer>
    );
  }
  if (state.kind === 'lost') {
    return (
      <footer className={classes.status} data-tone="bad" role="status">
        Connection to the app lost, reconnecting … Saved work is safe. If the app is still running, training continues
        and this page catches up; if it has quit, start it again.
      </footer>
    );
  }
  return (
    <footer className={classes.status} data-tour="status">
      {status === undefined ? <span>Connecting …</span> : <Parts status={status} />}
    </footer>
  );
}

function Parts({ status }: { readonly status: AppStatus }) {
  const { live, elsewhere, machine, queued, queueHeld } = status;
  const jobs = status.jobs.filter(({ state }) => state === 'running');
  return (
    <>
      {live.length + elsewhere.length + jobs.length === 0 && <span className="faint">Idle</span>}
      {live.map((run) => (
        <LivePart key={run.runId} run={run} />
      ))}
      {elsewhere.map(({ runId, name, state, step, maxSteps }) => (
        <Link key={runId} href={`/runs/${runId}`} className={classes.live}>
          <span>{state === 'paused' ? 'Paused in a terminal:' : 'Training in a terminal:'}</span>
          <strong title={name}>{name}</strong>
          <Progress value={(100 * step) / Math.max(1, maxSteps)} w={80} size="sm" aria-label={`Steps of ${name}`} />
          <span className="num">
            {step}/{maxSteps}
          </span>
        </Link>
      ))}
      {queued > 0 && (
        <Link href="/experiments">
          {queued} queued{queueHeld === null ? '' : ', paused'}
        </Link>
      )}
      {status.servers.map(({ engine, state }) => (
        <Link key={engine} href="/settings">
          <span data-tone={state === 'unknown' ? 'warn' : undefined}>
            server of {engine} {state === 'unknown' ? 'may be up' : state}
          </span>
        </Link>
      ))}
      {jobs.map((job) => (
        <JobPart key={job.id} job={job} />
      ))}
      <span className={classes.gap} />
      <span className={`num ${classes.memory}`} title="Free memory on this machine">
        {bytes(machine.freeMemoryBytes)} of {bytes(machine.memoryBytes)} memory free
      </span>
      {machine.gpus.map(({ name, freeBytes, totalBytes }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: equal GPUs have equal names, and their order is fixed.
        <span key={i} className={`num ${classes.memory}`} title={`Free memory of ${name}`}>
          {bytes(freeBytes)}
          {totalBytes !== null && ` of ${bytes(totalBytes)}`} GPU memory free
        </span>
      ))}
      {machine.diskFreeBytes !== null && (
        <span className="num" data-tone={machine.diskFreeBytes < 2e9 ? 'warn' : undefined}>
          {bytes(machine.diskFreeBytes)} disk free
        </span>
      )}
      <NoticesMenu notices={status.notices} />
    </>
  );
}

function JobPart({ job: { id, title, progress } }: { readonly job: JobStatus }) {
  const { cancel, isCancelling, failure } = useCancelJob(id);
  return (
    <span>
      {title}
      {progress !== null && progress.total > 0 && ` ${progress.done}/${progress.total} ${progress.unit}`}{' '}
      {isCancelling ? (
        <span className="soft" role="status">
          cancelling …
        </span>
      ) : (
        <PlainButton className={classes.cancel} aria-label={`Cancel: ${title}`} onClick={cancel}>
          {' '}
          Cancel
        </PlainButton>
      )}
      {failure !== null && (
        <span role="alert" data-tone="bad">
          {' '}
          {failure}
        </span>
      )}
    </span>
  );
}

function LivePart({ run }: { readonly run: LiveStatus }) {
  const share = run.maxSteps === 0 ? 0 : (run.step / run.maxSteps) * 100;
  return (
    <Link href={`/runs/${run.runId}`} className={classes.live}>
      <strong title={run.name}>{run.name}</strong>
      <span title={waitsFor(run) ?? undefined}>{shownState(run)}</span>
      <Progress value={share} w={80} size="sm" aria-label={`Steps of ${run.name}`} />
      <span className="num">
        {run.step}/{run.maxSteps}
      </span>
      {run.silentSeconds !== null && <Silence seconds={run.silentSeconds} />}
      {run.secondsLeft !== null && run.state === 'running' && run.silentSeconds === null && (
        <span className="num">{duration(run.secondsLeft)} left</span>
      )}
      {run.reward !== null && <span className="num">training reward {score(run.reward)}</span>}
      {run.backend !== null && (
        <span className={classes.process} title={run.why ?? undefined}>
          {backendText(run.backend, run.threads)}
        </span>
      )}
      {run.memoryBytes !== null && <span className="num">{bytes(run.memoryBytes)}</span>}
      {run.gpuBytes !== null && (
        <span
          className="num"
          title={run.gpuPeakBytes === null ? undefined : `At most ${bytes(run.gpuPeakBytes)} so far`}
        >
          {bytes(run.gpuBytes)} of GPU memory
        </span>
      )}
    </Link>
  );
}
