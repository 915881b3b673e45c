/** All runs: found, sorted, laid over one another, compared, renamed, deleted. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useDeferredValue, useMemo, useRef, useState } from 'react';
import { api } from '../api/client.ts';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { Screen } from '../components/Screen.tsx';
import { Segments } from '../components/Segments.tsx';
import { useKeys } from '../frame/keys.tsx';
import { allRuns } from './all-runs.ts';
import { DeleteRun } from './DeleteRun.tsx';
import { Overlay } from './Overlay.tsx';
import { RenameRun } from './RenameRun.tsx';
import classes from './Runs.module.css';
import { RunTable } from './RunTable.tsx';
import { filterRows, type RunRowView, type StateFilter, stateFilters, toRows } from './run-rows.ts';

/** As many as a chart can tell apart. */
const MOST = 4;

export function Runs() {
  const { data, error, refetch } = useQuery(api.runs.list.queryOptions({ input: allRuns }));
  const { data: status } = useQuery(api.app.status.queryOptions());
  const [words, setWords] = useState('');
  const [state, setState] = useState<StateFilter>('all');
  const [selected, setSelected] = useState<readonly number[]>([]);
  const [asked, setAsked] = useState<{ readonly kind: 'rename' | 'delete'; readonly run: RunRowView } | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const wanted = useDeferredValue(words);
  const rows = useMemo(() => toRows(data ?? [], status?.live ?? []), [data, status]);
  const shown = useMemo(() => filterRows(rows, wanted, state), [rows, wanted, state]);

  const select = useCallback((id: number) => {
    setSelected((before) =>
      before.includes(id) ? before.filter((known) => known !== id) : [...before, id].slice(-MOST),
    );
  }, []);
  const act = useCallback((kind: 'rename' | 'delete', run: RunRowView) => setAsked({ kind, run }), []);
  useKeys(
    useMemo(
      () => [
        { key: '/', label: 'Find a run', run: () => search.current?.focus() },
        { key: 'c', label: 'Compare none', run: () => setSelected([]) },
      ],
      [],
    ),
  );

  return (
    <Screen
      title="Runs"
      about={data !== undefined && <span className="num">{told(shown.length, rows.length)}</span>}
      actions={
        <>
          <input
            ref={search}
            className={`box ${classes.search}`}
            placeholder="Find by name, dataset, model"
            aria-label="Find runs"
            value={words}
            onChange={({ currentTarget }) => setWords(currentTarget.value)}
          />
          <Segments
            aria-label="State"
            data={stateFilters.map((value) => ({ value, label: value }))}
            value={state}
            onChange={(value) => setState(stateFilters.find((known) => known === value) ?? 'all')}
          />
        </>
      }
    >
      {error !== null && <Failed what="The runs can't be listed" error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the runs" />}
      {data?.length === 0 && (
        <Empty title="No run yet">
          <p>A run trains one stage: it appears here when it starts.</p>
          <Button component={Link} href="/curriculum">
            Start a stage
          </Button>
        </Empty>
      )}
      {data !== undefined && data.length > 0 && (
        <>
          {selected.length > 0 && (
            <Overlay runIds={selected} rows={rows} onClear={() => setSelected([])} onRemove={select} />
          )}
          <RunTable
            rows={shown}
            selected={selected}
            nothing="No run is like that. Change the words or the state."
            onSelect={select}
            onAct={act}
          />
        </>
      )}
      {asked?.kind === 'rename' && (
        <RenameRun runId={asked.run.id} name={asked.run.name} onClose={() => setAsked(null)} />
      )}
      {asked?.kind === 'delete' && (
        <DeleteRun
          runId={asked.run.id}
          name={asked.run.name}
          onClose={() => setAsked(null)}
          onGone={() => setSelected((before) => before.filter((id) => id !== asked.run.id))}
        />
      )}
    </Screen>
  );
}

function told(shown: number, all: number): string {
  return shown === all ? `${all}` : `${shown} of ${all}`;
}
