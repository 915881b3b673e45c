/** The command palette (Ctrl/Cmd-K): actions of the current screen, and every screen, stage, dataset, sweep, comparison, task, run and model. */
import { Spotlight, type SpotlightActionData, useSpotlight } from '@mantine/spotlight';
import {
  IconArrowsDiff,
  IconBolt,
  IconBox,
  IconChartLine,
  IconChecklist,
  IconDatabase,
  IconFlask,
  IconKeyboard,
  IconRoute,
  IconStairs,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ComponentType, useEffect, useLayoutEffect, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { api } from '../api/client.ts';
import { whenIdle } from '../components/use-when-idle.ts';
import { stateOf } from '../curriculum/words.ts';
import { useAllRuns } from '../runs/use-all-runs.ts';
import { navigate } from './hash-location.ts';
import { type ScreenKey, useCurrentKeys, useKeysHelp } from './keys.tsx';
import classes from './Palette.module.css';
import { ordered } from './palette-order.ts';
import {
  comparisonPlaces,
  datasetPlaces,
  modelPlaces,
  type PalettePlace,
  runPlaces,
  taskPlaces,
} from './palette-places.ts';
import { paletteStore } from './palette-store.ts';
import { recentPlaces, rememberPlace } from './recent-places.ts';
import { screens } from './screens.ts';
import { tour } from './tour-store.ts';

export function Palette() {
  const { data: runs = [] } = useAllRuns();
  const [isOpen, setOpen] = useState(false);
  const { data: curriculum } = useQuery(api.stages.list.queryOptions({ enabled: isOpen }));
  const { data: sweeps = [] } = useQuery(api.sweeps.list.queryOptions({ enabled: isOpen }));
  const { data: datasets = [] } = useQuery(api.datasets.list.queryOptions({ enabled: isOpen }));
  const { data: comparisons = [] } = useQuery(api.comparisons.list.queryOptions({ enabled: isOpen }));
  const { data: tasks = [] } = useQuery(api.tasks.list.queryOptions({ enabled: isOpen }));
  const { data: models = [] } = useQuery(api.models.list.queryOptions({ enabled: isOpen }));
  const [keys, setKeys] = useState<readonly ScreenKey[]>([]);
  const current = useCurrentKeys();
  const showKeys = useKeysHelp();
  const [path] = useLocation();
  const search = useSearch();
  const { data: info } = useQuery(api.app.info.queryOptions());
  const workspace = info?.workspace;
  useEffect(() => {
    if (workspace !== undefined) rememberPlace(workspace, search === '' ? path : `${path}?${search}`);
  }, [workspace, path, search]);
  const screenActions: SpotlightActionData[] = keys.filter(isAction).map(({ key, label, run }) => ({
    id: `key-${key}`,
    label,
    leftSection: <IconBolt {...icon} />,
    rightSection: <kbd className={classes.key}>{key === ' ' ? 'Space' : key}</kbd>,
    onClick: later(run),
  }));
  const places: SpotlightActionData[] = screens.map(({ path, label, key, icon: Icon }) => ({
    id: path,
    label,
    leftSection: <Icon {...icon} />,
    rightSection: <kbd className={classes.key}>g {key}</kbd>,
    onClick: () => navigate(path),
  }));
  const help: SpotlightActionData[] = [
    { id: 'tour', label: 'Take the tour', leftSection: <IconRoute {...icon} />, onClick: later(tour.start) },
    { id: 'keys', label: 'Keyboard shortcuts', leftSection: <IconKeyboard {...icon} />, onClick: later(showKeys) },
  ];
  // There may be ten thousand: made while the palette is open, not at each change while it is closed.
  const objects = useMemo(() => (isOpen ? entriesOf(runPlaces(runs), IconChartLine) : none), [runs, isOpen]);
  const stages = (curriculum?.stages ?? []).map((stage) => ({
    ...thing(`/curriculum?stage=${stage.id}`, stage.name, `stage, ${stateOf(stage)}`),
    leftSection: <IconStairs {...icon} />,
  }));
  const pairs = useMemo(() => entriesOf(datasetPlaces(datasets), IconDatabase), [datasets]);
  const experiments = sweeps.map(({ id, name, state }) => ({
    ...thing(`/experiments/${id}`, name, `sweep, ${state}`),
    leftSection: <IconFlask {...icon} />,
  }));
  const compared = useMemo(() => entriesOf(comparisonPlaces(comparisons), IconArrowsDiff), [comparisons]);
  const ownTasks = useMemo(() => entriesOf(taskPlaces(tasks), IconChecklist), [tasks]);
  const weights = useMemo(() => entriesOf(modelPlaces(models), IconBox), [models]);
  const all = [...stages, ...pairs, ...experiments, ...compared, ...ownTasks, ...objects, ...weights];
  const { query } = useSpotlight(paletteStore);
  // Not the screen that is open; and nothing while searching, as its own heading has what is found.
  const visitedBefore = isOpen && query === '' && workspace !== undefined ? recentPlaces(workspace) : [];
  const others = visitedBefore.filter((path) => path !== window.location.hash.slice(1));
  const recent = others.flatMap((path) => {
    const found = all.find(({ id }) => id === path);
    return found === undefined ? [] : { ...found, id: `recent ${path}` };
  });
  const isSettled = useSettled(isOpen, query);
  usePreselected(isOpen, query, all.length);
  return (
    <Spotlight
      store={paletteStore}
      shortcut={null}
      classNames={{ actionBody: classes.body ?? '', actionDescription: classes.about ?? '' }}
      onSpotlightOpen={() => {
        setKeys(current());
        setOpen(true);
      }}
      onSpotlightClose={() => setOpen(false)}
      actions={[
        { group: 'Recent', actions: recent },
        { group: 'On this screen', actions: screenActions },
        { group: 'Go to', actions: places },
        { group: 'Help', actions: help },
        { group: 'Stages', actions: stages },
        { group: 'Datasets', actions: pairs },
        { group: 'Sweeps', actions: experiments },
        { group: 'Comparisons', actions: compared },
        { group: 'Tasks', actions: ownTasks },
        { group: 'Runs', actions: objects },
        { group: 'Models', actions: weights },
      ].filter(({ actions }) => actions.length > 0)}
      filter={(typed, groups) => [
        ...ordered(
          typed,
          groups.flatMap((group) => ('actions' in group ? group : [])),
        ),
      ]}
      nothingFound="No results"
      highlightQuery
      scrollable
      centered={false}
      yOffset="12vh"
      maxHeight={420}
      limit={isSettled ? MOST : FIRST}
      // Each phase of a transition renders every entry again.
      transitionProps={{ duration: 0 }}
      searchProps={{
        placeholder: 'Search actions, screens, runs, models, comparisons …',
        'aria-label': 'Search',
      }}
    />
  );
}

/** Entries that are shown at first, somewhat more than fit in the palette; the others follow once the page is idle. */
const FIRST = 14;
const MOST = 40;
const none: SpotlightActionData[] = [];
const icon = { size: 16, 'aria-hidden': true } as const;
const AFTER_CLOSING_MS = 60;

/** The palette returns the focus first; the action may then move it. */
function later(run: () => void): () => void {
  return () => void setTimeout(run, AFTER_CLOSING_MS);
}

/** An entry that opens a place. */
function thing(path: string, label: string, description: string) {
  return { id: path, label, description, onClick: () => navigate(path) };
}

function entriesOf(places: readonly PalettePlace[], Icon: ComponentType<typeof icon>): SpotlightActionData[] {
  const leftSection = <Icon {...icon} />;
  return places.map(({ path, label, description, keywords = [] }) => ({
    ...thing(path, label, description),
    keywords,
    leftSection,
  }));
}

/** True once the open palette is painted with what is found, and the page is idle. */
function useSettled(isOpen: boolean, query: string): boolean {
  const [settled, setSettled] = useState<string | null>(null);
  useEffect(() => {
    if (isOpen) return whenIdle(() => setSettled(query));
    setSettled(null);
    return undefined;
  }, [isOpen, query]);
  return isOpen && settled === query;
}

/** Selects the first entry whenever the list changes, so that Enter opens the best match. */
function usePreselected(isOpen: boolean, query: string, count: number): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list changes with the query and with what was loaded
  useLayoutEffect(() => {
    if (!isOpen) return;
    // Before the new list is painted: an Enter at once would act on an entry of the one before.
    selectFirst();
    // The list exists a frame after the palette opens.
    const frame = requestAnimationFrame(() => selectFirst());
    return () => cancelAnimationFrame(frame);
  }, [isOpen, query, count]);
}

function selectFirst(): void {
  const list = document.getElementById(paletteStore.getState().listId);
  // It has no title to be named by.
  list?.closest('[role="dialog"]')?.setAttribute('aria-label', 'Command palette');
  for (const entry of list?.querySelectorAll('[data-selected]') ?? []) entry.removeAttribute('data-selected');
  const first = list?.querySelector('[data-action]');
  first?.setAttribute('data-selected', 'true');
  paletteStore.updateState((state) => ({ ...state, selected: first === null ? -1 : 0 }));
}

/** Whether a key is an action rather than list navigation. */
function isAction({ key }: ScreenKey): boolean {
  return !key.startsWith('Arrow') && !['Home', 'End', 'Escape', 'j', 'k'].includes(key);
}
