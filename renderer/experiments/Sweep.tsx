/** A sweep: its progress, what it found, and the table of settings over seeds. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { SweepView } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { ParallelCoordinates } from '../charts/ParallelCoordinates.tsx';
import { Confirm } from '../components/Confirm.tsx';
import { csvText } from '../components/csv.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { counted, duration, number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { ProgressBar } from '../components/ProgressBar.tsx';
import { Panel, Screen } from '../components/Screen.tsx';
import { Share } from '../components/Share.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { saveFile } from '../components/save-file.ts';
import classes from './Experiments.module.css';
import { SweepTable } from './SweepTable.tsx';
import { linesOf } from './sweep-lines.ts';
import { isReplyMethods, progressInWords, shapeInWords, stepList, trialLines, verdictInWords } from './words.ts';

/** While it trains, its scores change with evaluations; its steps with time. */
const REFRESH_MS = 3000;

export function Sweep({ sweepId }: { readonly sweepId: number }) {
  const { data, error, refetch } = useQuery(
    api.sweeps.get.queryOptions({
      input: { sweepId },
      refetchInterval: ({ state }) => (state.data?.runId == null ? false : REFRESH_MS),
    }),
  );
  return (
    <Screen
      title={data?.name ?? `Sweep ${sweepId}`}
      about={
        <>
          {data !== undefined && <StateBadge state={data.state} />}
          <Link href="/experiments">All experiments</Link>
        </>
      }
      actions={data !== undefined && <Actions sweep={data} />}
    >
      {error !== null && <Failed what="The sweep can't be shown" error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the sweep" />}
      {data !== undefined && <SweepResult sweep={data} />}
    </Screen>
  );
}

/** What a sweep found. */
export function SweepResult({ sweep }: { readonly sweep: SweepView }) {
  const { rows, fields, steps, secondsLeft, runId, reason, rungs } = sweep;
  const [kept, setKept] = useState<readonly number[] | null>(null);
  const plot = useMemo(() => linesOf(sweep), [sweep]);
  const verdict = sweep.state === 'done' ? verdictInWords(rows) : null;
  const failures = rows.flatMap(({ label, trials }) =>
    trials.flatMap(({ id, seed, state, reason: why }) =>
      state === 'failed' && why !== null ? [{ id, text: `${label}, seed ${seed}: ${why}` }] : [],
    ),
  );
  return (
    <>
      <Panel>
        {verdict !== null && <p className={classes.verdict}>{verdict}</p>}
        <div className={classes.facts}>
          <span>{shapeInWords(sweep)}</span>
          <span className="num">{progressInWords(sweep)}</span>
          <ProgressBar
            aria-label={`Progress of ${sweep.name}`}
            value={Math.min(100, (100 * steps.done) / Math.max(1, steps.planned))}
          />
          <span className="num">
            {number(steps.done)} of {counted(steps.planned, 'step')}
          </span>
          {secondsLeft !== null && secondsLeft > 0 && <span className="num">about {duration(secondsLeft)} left</span>}
          {runId !== null && <Link href={`/runs/${runId}`}>Run in training</Link>}
          {isReplyMethods(rows) && <Link href="/replies">Compare their replies</Link>}
        </div>
        {runId !== null && (sweep.state === 'paused' || sweep.state === 'cancelled') && (
          <p className={classes.notes} role="status">
            {sweep.state === 'paused' ? 'Pausing' : 'Cancelling'} after the step of its run, which is then saved …
          </p>
        )}
        {reason !== null && <p className={classes.notes}>Paused: {reason}. Its runs are kept; Resume continues.</p>}
      </Panel>
      <SweepTable sweep={sweep} kept={kept} />
      {plot !== null && fields.length > 0 && (
        <Panel title="Settings against result">
          <ParallelCoordinates axes={plot.axes} rows={plot.rows} onFilter={setKept} />
        </Panel>
      )}
      {failures.length > 0 && (
        <Panel title="Failed runs">
          <ul className={classes.failures}>
            {failures.map(({ id, text }) => (
              <li key={id}>{text}</li>
            ))}
          </ul>
        </Panel>
      )}
      {rungs !== null && (
        <p className={classes.notes}>
          Settings are compared at {stepList(rungs.slice(0, -1))}, and the losers stopped; their rows show their scores
          there, and their distance from the leader at the same steps.
        </p>
      )}
    </>
  );
}

function Actions({ sweep }: { readonly sweep: SweepView }) {
  const { id: sweepId, state, inQueue, failed, name, over, runs } = sweep;
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<'cancel' | 'delete' | null>(null);
  const act = useMutation({ mutationFn: (work: () => Promise<unknown>) => work() });
  const cancel = useMutation({
    mutationFn: () => client.sweeps.cancel({ sweepId }),
    onSuccess: () => setAsked(null),
  });
  const remove = useMutation({
    mutationFn: () => client.sweeps.remove({ sweepId }),
    onSuccess: () => navigate('/experiments'),
  });
  const advances = state === 'queued' || state === 'running';
  const retries = (failed > 0 && !advances) || state === 'cancelled';
  const save = (): void =>
    saveFile(`${name}.csv`, new Blob([csvText(trialLines(sweep.fields, sweep.rows))], { type: 'text/csv' }));
  return (
    <>
      {act.error !== null && <Failed error={act.error} />}
      {advances && inQueue && (
        <Button variant="default" onClick={() => act.mutate(() => client.sweeps.pause({ sweepId }))}>
          Pause
        </Button>
      )}
      {state === 'paused' && (
        <Button onClick={() => act.mutate(() => client.sweeps.resume({ sweepId }))}>Resume</Button>
      )}
      {retries && (
        <Button variant="default" onClick={() => act.mutate(() => client.sweeps.retry({ sweepId }))}>
          {state === 'cancelled' ? 'Run the rest' : 'Retry failed runs'}
        </Button>
      )}
      <Button variant="default" onClick={save}>
        CSV
      </Button>
      <Share subject={{ of: 'sweep', id: sweepId }} hasTexts={false} />
      {(advances || state === 'paused') && (
        <Button variant="default" onClick={() => setAsked('cancel')}>
          Cancel sweep …
        </Button>
      )}
      {!advances && (
        <Button variant="default" onClick={() => setAsked('delete')}>
          Delete …
        </Button>
      )}
      <Confirm
        opened={asked === 'cancel'}
        title={`Cancel ${name}?`}
        action="Cancel the sweep"
        dangerous
        mutation={cancel}
        onClose={() => setAsked(null)}
      >
        <p>
          The run in training saves and stops, and {counted(runs - over, 'run is', 'runs are')} not finished. What has
          been trained is kept, and the rest can be run later.
        </p>
      </Confirm>
      <Confirm
        opened={asked === 'delete'}
        title={`Delete ${name}?`}
        action="Delete the sweep"
        dangerous
        mutation={remove}
        onClose={() => setAsked(null)}
      >
        <p>The plan and this table are deleted. Its runs stay in the list of runs.</p>
      </Confirm>
    </>
  );
}
