/** The Runs screen: search, sort, overlay, compare, rename and delete. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useDeferredValue, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { LiveStatus, RunSummary } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { lastCall } from '../components/last-call.ts';
import { Screen } from '../components/Screen.tsx';
import { Segments } from '../components/Segments.tsx';
import { saveFile } from '../components/save-file.ts';
import { selectedText } from '../components/selected-text.ts';
import { useKeys } from '../frame/keys.tsx';
import { DeleteRun } from './DeleteRun.tsx';
import { DeleteRuns } from './DeleteRuns.tsx';
import { ListMenu } from './ListMenu.tsx';
import { Overlay } from './Overlay.tsx';
import { RenameRun } from './RenameRun.tsx';
import classes from './Runs.module.css';
import { RunTable } from './RunTable.tsx';
import { useRememberedFilter } from './remembered-filter.ts';
import { useRememberedView } from './remembered-view.ts';
import { type ColumnId, defaultColumns } from './run-columns.ts';
import { type Around, chosenRows, filterRows, type RunRowView, stateFilters, toRows } from './run-rows.ts';
import { runsCsv } from './runs-csv.ts';
import { SettingsPlot } from './SettingsPlot.tsx';
import { useAllRuns } from './use-all-runs.ts';

/** As many as a chart can distinguish: the last ones selected. */
const MAX_OVERLAID = 4;

type Listed = readonly [readonly RunSummary[], readonly LiveStatus[], Around['stages'], Around['price']];
const rowsOf = lastCall(([runs, live, stages, price]: Listed) => toRows(runs, live, { stages, price }));
const none: readonly never[] = [];

export function Runs() {
  const { data, error, refetch } = useAllRuns();
  const { data: status } = useQuery(api.app.status.queryOptions());
  const { data: info } = useQuery(api.app.info.queryOptions());
  const [{ words, state }, setFilter] = useRememberedFilter(info?.workspace);
  const [view, setView] = useRememberedView();
  const fitting = useDefaultColumns();
  const shownColumns = view.columns ?? fitting;
  const { data: curriculum } = useQuery(api.stages.list.queryOptions({ enabled: view.groupBy === 'stage' }));
  const { data: settings } = useQuery(api.settings.get.queryOptions());
  const [marked, setMarked] = useState<readonly number[]>([]);
  const [isPlotting, setPlotting] = useState(false);
  const [kept, setKept] = useState<readonly number[] | null>(null);
  const [asked, setAsked] = useState<{ readonly kind: 'rename' | 'delete'; readonly run: RunRowView } | 'bulk' | null>(
    null,
  );
  const search = useRef<HTMLInputElement>(null);
  const wanted = useDeferredValue(words);
  const rows = rowsOf([data ?? none, status?.live ?? none, curriculum?.stages ?? none, settings ?? null]);
  const found = useMemo(() => filterRows(rows, wanted, state), [rows, wanted, state]);
  const shown = useMemo(() => (kept === null ? found : found.filter(({ id }) => kept.includes(id))), [found, kept]);
  const chosen = useMemo(() => chosenRows(rows, marked), [rows, marked]);
  const selected = useMemo(() => new Set(chosen.map(({ id }) => id)), [chosen]);

  const select = useCallback((id: number) => {
    setMarked((before) => (before.includes(id) ? before.filter((known) => known !== id) : [...before, id]));
  }, []);
  const selectAll = useCallback((ids: readonly number[]) => setMarked(ids), []);
  const act = useCallback((kind: 'rename' | 'delete', run: RunRowView) => setAsked({ kind, run }), []);
  useKeys(
    useMemo(
      () => [
        { key: '/', label: 'Find a run', run: () => search.current?.focus() },
        { key: 'c', label: 'Clear the selection', run: () => setMarked([]) },
      ],
      [],
    ),
  );

  return (
    <Screen
      title="Runs"
      about={data !== undefined && <span className="num">{countText(shown.length, rows.length)}</span>}
      actions={
        <>
          <input
            ref={search}
            className={`box ${classes.search}`}
            placeholder="Name, dataset, model, tag:"
            aria-label="Find runs"
            value={words}
            onChange={({ currentTarget }) => setFilter({ words: currentTarget.value })}
          />
          <Segments
            aria-label="State"
            data={stateFilters.map((value) => ({ value, label: value }))}
            value={state}
            onChange={(value) => setFilter({ state: stateFilters.find((known) => known === value) ?? 'all' })}
          />
          {chosen.length > 0 && (
            <>
              <span className="num soft">{selectedText(chosen, shown)}</span>
              <Button variant="default" onClick={() => setAsked('bulk')}>
                Delete {chosen.length} …
              </Button>
            </>
          )}
          <Button variant="default" disabled={rows.length < 2} onClick={() => setPlotting(true)}>
            Plot settings
          </Button>
          <ListMenu view={view} shown={shownColumns} onChange={setView} />
          <Button
            variant="default"
            disabled={shown.length === 0}
            title="Save the runs and columns shown as CSV"
            onClick={() => saveFile('runs.csv', new Blob([runsCsv(shown, shownColumns)], { type: 'text/csv' }))}
          >
            CSV
          </Button>
        </>
      }
    >
      {error !== null && <Failed what="The runs can't be listed" error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the runs" />}
      {data?.length === 0 && (
        <Empty title="No runs yet">
          <p>A run trains one stage: it appears here when it starts.</p>
          <Button component={Link} href="/curriculum">
            Start a stage
          </Button>
        </Empty>
      )}
      {data !== undefined && data.length > 0 && (
        <>
          {chosen.length > 0 && (
            <Overlay
              runIds={[...selected].slice(-MAX_OVERLAID)}
              rows={rows}
              onClear={() => setMarked([])}
              onRemove={select}
            />
          )}
          {isPlotting && (
            <SettingsPlot
              rows={found}
              onFilter={setKept}
              onClose={() => {
                setPlotting(false);
                setKept(null);
              }}
            />
          )}
          <RunTable
            rows={shown}
            view={view}
            shown={shownColumns}
            selected={selected}
            emptyText={
              kept === null ? 'No matching runs. Change the search or the state.' : "No runs inside the plot's filter."
            }
            onSelect={select}
            onSelectAll={selectAll}
            onSort={(sorting) => setView({ sorting })}
            onAct={act}
          />
        </>
      )}
      {asked === 'bulk' && (
        <DeleteRuns runs={chosen} all={rows} onClose={() => setAsked(null)} onDeleted={() => setMarked([])} />
      )}
      {asked !== null && asked !== 'bulk' && asked.kind === 'rename' && (
        <RenameRun runId={asked.run.id} name={asked.run.name} onClose={() => setAsked(null)} />
      )}
      {asked !== null && asked !== 'bulk' && asked.kind === 'delete' && (
        <DeleteRun
          runId={asked.run.id}
          name={asked.run.name}
          onClose={() => setAsked(null)}
          onDeleted={() => setMarked((before) => before.filter((id) => id !== asked.run.id))}
        />
      )}
    </Screen>
  );
}

function countText(shown: number, all: number): string {
  return shown === all ? number(all) : `${number(shown)} of ${number(all)}`;
}

/** The columns that a list shows until the user chooses: as many as fit the window. */
function useDefaultColumns(): readonly ColumnId[] {
  const ids = useSyncExternalStore(subscribe, () => defaultColumns(window.innerWidth).join());
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new list only where its columns are others
  return useMemo(() => defaultColumns(window.innerWidth), [ids]);
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener('resize', onChange);
  return () => window.removeEventListener('resize', onChange);
}
