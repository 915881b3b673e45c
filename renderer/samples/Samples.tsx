/** The Samples screen: saved completions by step, by record, by search, and pinned side by side. */
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { api } from '../api/client.ts';
import { Legend } from '../components/Aligned.tsx';
import type { WordKind } from '../components/aligned-words.ts';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { LongChoice } from '../components/LongChoice.tsx';
import { Screen } from '../components/Screen.tsx';
import { Segments } from '../components/Segments.tsx';
import { useKeys } from '../frame/keys.tsx';
import { useAllRuns } from '../runs/use-all-runs.ts';
import { FindView } from './FindView.tsx';
import { fetchFound } from './found.ts';
import { PinsView } from './PinsView.tsx';
import { usePins } from './pins.ts';
import { type Place, readPlace, type View, writePlace } from './place.ts';
import { RecordView } from './RecordView.tsx';
import classes from './Samples.module.css';
import { StepView } from './StepView.tsx';

export function Samples() {
  const place = readPlace(useSearch());
  const [, navigate] = useLocation();
  const onPlace = (change: Partial<Place>): void => navigate(writePlace({ ...place, ...change }), { replace: true });
  const newest = useQuery(api.samples.newest.queryOptions());
  const runId = place.run ?? newest.data ?? null;
  const [hidden, setHidden] = useState<ReadonlySet<WordKind>>(new Set());
  const { pins } = usePins();
  const ofRun = useQuery({
    ...api.samples.ofRun.queryOptions({ input: { runId: runId ?? 0 } }),
    enabled: runId !== null,
  });
  // Only where completions are aligned with a target. Search results and pins may be from any run.
  const hasTargets =
    (place.show !== 'step' && place.show !== 'record') || (ofRun.data?.show ?? 'aligned') === 'aligned';
  const queries = useQueryClient();
  useEffect(() => {
    if (runId === null) return;
    const asked = requestIdleCallback(() => void fetchFound(queries, runId).catch(() => undefined));
    return () => cancelIdleCallback(asked);
  }, [queries, runId]);
  const latest = useRef(onPlace);
  latest.current = onPlace;
  useKeys(
    useMemo(
      () => [
        { key: 's', label: 'By step', run: () => latest.current({ show: 'step' }) },
        { key: '/', label: 'Find in this run', run: () => latest.current({ show: 'find' }) },
        { key: 'p', label: 'Pinned, side by side', run: () => latest.current({ show: 'pins' }) },
      ],
      [],
    ),
  );
  return (
    <Screen
      title="Samples"
      about={
        <>
          <RunChoice
            runId={runId}
            name={ofRun.data?.name}
            onRun={(run) => onPlace({ run, step: null, group: null, show: tabOf(place.show) })}
          />
          <Segments
            aria-label="View"
            data={[
              { value: 'step', label: 'By step' },
              { value: 'find', label: 'Find' },
              { value: 'pins', label: `Pinned ${pins.length}` },
            ]}
            value={tabOf(place.show)}
            onChange={(show) => onPlace({ show: show as View })}
          />
        </>
      }
      actions={hasTargets && <Legend hidden={hidden} onChange={setHidden} />}
    >
      <div className={classes.body}>
        {newest.error !== null && (
          <Failed what="Completions can't be read" error={newest.error} onRetry={() => void newest.refetch()} />
        )}
        {place.show === 'find' && <FindView runId={runId} {...{ place, onPlace, hidden }} />}
        {place.show === 'pins' && <PinsView hidden={hidden} />}
        {(place.show === 'step' || place.show === 'record') && runId !== null && (
          <OfRun runId={runId} {...{ place, onPlace, hidden }} />
        )}
        {place.show === 'step' && runId === null && newest.data === null && <NothingSaved />}
      </div>
    </Screen>
  );
}

/** The record view belongs to the step view. */
function tabOf(show: View): View {
  return show === 'record' ? 'step' : show;
}

function NothingSaved() {
  return (
    <Empty title="No completions yet">
      <p>
        They are saved while a run trains: at its first and last step, and at every tenth unless its settings differ.
      </p>
      <Button component={Link} href="/curriculum">
        Start a stage
      </Button>
    </Empty>
  );
}

interface OfRunProps {
  readonly runId: number;
  readonly place: Place;
  readonly onPlace: (change: Partial<Place>) => void;
  readonly hidden: ReadonlySet<WordKind>;
}

function OfRun({ runId, place, onPlace, hidden }: OfRunProps) {
  const { data: run, error, refetch } = useQuery(api.samples.ofRun.queryOptions({ input: { runId } }));
  if (error !== null)
    return (
      <div className={classes.gone}>
        <Failed what="The completions of this run can't be shown" error={error} onRetry={() => void refetch()} />
        <Button variant="default" onClick={() => onPlace({ run: null, step: null, group: null, show: 'step' })}>
          Show the newest completions
        </Button>
      </div>
    );
  if (run === undefined) return <Loading what="the run" />;
  if (run.steps.length === 0)
    return (
      <Empty title={`${run.name} has no completions`}>
        <p>
          {run.state === 'running'
            ? 'The first ones are saved at its first step.'
            : 'It ended before its first step, or it was trained without sampling (sft).'}
        </p>
        <Link href={`/runs/${runId}`}>Open the run</Link>
      </Empty>
    );
  if (place.show === 'record' && place.record !== null)
    return <RecordView key={place.record} record={place.record} {...{ run, onPlace, hidden }} />;
  return <StepView key={runId} {...{ run, place, onPlace, hidden }} />;
}

interface RunChoiceProps {
  readonly runId: number | null;
  /** Of that run, which may be too old to be listed yet. */
  readonly name: string | undefined;
  readonly onRun: (runId: number) => void;
}

function RunChoice({ runId, name, onRun }: RunChoiceProps) {
  const { data: runs } = useAllRuns();
  const options = useMemo(() => (runs ?? []).map(({ id, name }) => ({ value: String(id), label: name })), [runs]);
  return (
    <LongChoice
      aria-label="Run"
      className={classes.run}
      placeholder="No run"
      currentLabel={runs?.find(({ id }) => id === runId)?.name ?? name}
      nothingFoundMessage="No matching runs"
      data={options}
      value={runId === null ? null : String(runId)}
      onChange={(value) => value !== null && onRun(Number(value))}
      allowDeselect={false}
    />
  );
}
