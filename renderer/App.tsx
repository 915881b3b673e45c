/** The app shell: the frame around the screens. A screen's code is loaded when it is first opened. */
import { useMantineColorScheme } from '@mantine/core';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { Route, Router, Switch, useLocation } from 'wouter';

import { api } from './api/client.ts';
import { allRuns } from './api/run-pages.ts';
import { ErrorBoundary } from './components/ErrorBoundary.tsx';
import { Empty } from './components/Feedback.tsx';
import { Link } from './components/Link.tsx';
import { Panel, Screen } from './components/Screen.tsx';
import classes from './frame/Frame.module.css';
import { HostRequests } from './frame/HostRequests.tsx';
import { useHashPath } from './frame/hash-location.ts';
import { keepFocus } from './frame/keep-focus.ts';
import { KeysProvider } from './frame/keys.tsx';
import { LazyScreen, prefetchWhenIdle, type ScreenCode, screenCode } from './frame/lazy-screen.tsx';
import { Prerender, type PrerenderTask } from './frame/Prerender.tsx';
import { PaletteWhenIdle } from './frame/palette-when-idle.tsx';
import { prefetchScreen, prefetchScreensWhenIdle } from './frame/prefetch-screens.ts';
import { Rail } from './frame/Rail.tsx';
import { SessionExpired } from './frame/SessionExpired.tsx';
import { StatusBar } from './frame/StatusBar.tsx';
import { Tour } from './frame/Tour.tsx';
import { Home } from './home/Home.tsx';
import { prefetchRun } from './run/prefetch.ts';
import { fetchAllRuns } from './runs/use-all-runs.ts';
import { sparklinesAround } from './runs/use-sparklines.ts';

const runs = screenCode(() => import('./runs/Runs.tsx').then(({ Runs }) => Runs));
const compare = screenCode(() => import('./compare/Compare.tsx').then(({ Compare }) => Compare));
const comparison = screenCode(() => import('./compare/Comparison.tsx').then(({ Comparison }) => Comparison));
const curriculum = screenCode(() => import('./curriculum/Curriculum.tsx').then(({ Curriculum }) => Curriculum));
const settings = screenCode(() => import('./settings/Settings.tsx').then(({ Settings }) => Settings));
const playground = screenCode(() => import('./playground/Playground.tsx').then(({ Playground }) => Playground));
const samples = screenCode(() => import('./samples/Samples.tsx').then(({ Samples }) => Samples));
const corpus = screenCode(() => import('./texts/Corpus.tsx').then(({ Corpus }) => Corpus));
const make = screenCode(() => import('./texts/Make.tsx').then(({ Make }) => Make));
const datasets = screenCode(() => import('./texts/Datasets.tsx').then(({ Datasets }) => Datasets));
const dataset = screenCode(() => import('./texts/Dataset.tsx').then(({ Dataset }) => Dataset));
const models = screenCode(() => import('./models/Models.tsx').then(({ Models }) => Models));
const replies = screenCode(() => import('./replies/Replies.tsx').then(({ Replies }) => Replies));
const experiments = screenCode(() => import('./experiments/Experiments.tsx').then(({ Experiments }) => Experiments));
const sweep = screenCode(() => import('./experiments/Sweep.tsx').then(({ Sweep }) => Sweep));
const tasks = screenCode(() => import('./tasks/Tasks.tsx').then(({ Tasks }) => Tasks));
const importRecords = screenCode(() => import('./tasks/ImportRecords.tsx').then(({ ImportRecords }) => ImportRecords));
const task = screenCode(() => import('./tasks/Task.tsx').then(({ Task }) => Task));
const run = screenCode(() => import('./run/Run.tsx').then(({ Run }) => Run));

/** Those whose address says nothing but their name. */
const screensByPath = {
  '/texts': corpus,
  '/texts/make': make,
  '/texts/datasets': datasets,
  '/tasks': tasks,
  '/curriculum': curriculum,
  '/replies': replies,
  '/experiments': experiments,
  '/runs': runs,
  '/samples': samples,
  '/models': models,
  '/playground': playground,
  '/compare': compare,
};

const codes = new Map<string, Pick<ScreenCode<never>, 'fetch'>>(Object.entries(screensByPath));

/** Starts to load the code of the screen at a path that is about to be opened. */
export function fetchCode(path: string): void {
  // A failure is shown when the screen is opened.
  codes
    .get(path)
    ?.fetch()
    .catch(() => undefined);
}

const none = {};

/** Most screens use this font, Home doesn't. Loading it together with a screen would lay that screen out twice. */
const fixedWidthFont = {
  fetch: async () => {
    await document.fonts.load("12px 'JetBrains Mono Variable'");
  },
};

/** In the order in which they are likely to be opened. */
const later = [
  fixedWidthFont,
  ...[runs, run, samples, curriculum, corpus, models, compare, playground, settings, replies],
  ...[make, datasets, dataset, comparison, tasks, task, importRecords, experiments, sweep],
];

export function App() {
  useTheme();
  useEffect(() => keepFocus(document), []);
  const queries = useQueryClient();
  const [tasks, setTasks] = useState<readonly PrerenderTask[]>([]);
  useEffect(
    () =>
      prefetchWhenIdle(later, () => {
        prefetchScreensWhenIdle(queries);
        setTasks(prerenderTasks(queries));
      }),
    [queries],
  );
  return (
    <Router hook={useHashPath}>
      <KeysProvider>
        <div className={classes.frame}>
          <Rail />
          <Page />
          <StatusBar />
        </div>
        <PaletteWhenIdle />
        <HostRequests />
        <Tour />
        <SessionExpired />
        <Prerender screens={tasks} />
      </KeysProvider>
    </Router>
  );
}

/** The screens whose first render takes longest. */
function prerenderTasks(queries: QueryClient): readonly PrerenderTask[] {
  const newestRun = async () => {
    const [newest] = await queries.fetchQuery(api.runs.list.queryOptions({ input: allRuns }));
    return newest;
  };
  return [
    async () => {
      const newest = await newestRun();
      if (newest !== undefined) await queries.prefetchQuery(sparklinesAround(newest.id));
      return <LazyScreen code={runs} props={none} />;
    },
    ...lists.map((path) => async () => {
      await prefetchScreen(queries, path);
      return <LazyScreen code={screensByPath[path]} props={none} />;
    }),
    async () => {
      const newest = await newestRun();
      if (newest === undefined) return null;
      await prefetchRun(queries, newest.id);
      return <LazyScreen code={run} props={{ runId: newest.id }} />;
    },
    async () => <LazyScreen code={samples} props={none} />,
    // Again where there are many: their rows are then computed.
    async () => ((await fetchAllRuns(queries)) ? <LazyScreen code={runs} props={none} /> : null),
  ];
}

const lists = ['/texts/datasets', '/tasks', '/compare', '/models'] as const;

function Page() {
  const [location] = useLocation();
  const main = useFocusAfterMove(location);
  return (
    <main ref={main} className={classes.page} tabIndex={-1}>
      <ErrorBoundary key={location}>
        <Switch>
          <Route path="/" component={Home} />
          {Object.entries(screensByPath).map(([path, code]) => (
            <Route key={path} path={path}>
              <LazyScreen code={code} props={none} />
            </Route>
          ))}
          <Route path={numbered.dataset}>
            {({ id }) => <LazyScreen key={id} code={dataset} props={{ datasetId: Number(id) }} />}
          </Route>
          <Route path="/tasks/:name/import">
            {({ name }) => <LazyScreen key={name} code={importRecords} props={{ task: name }} />}
          </Route>
          <Route path="/tasks/:name">{({ name }) => <LazyScreen key={name} code={task} props={{ name }} />}</Route>
          <Route path={numbered.sweep}>
            {({ id }) => <LazyScreen key={id} code={sweep} props={{ sweepId: Number(id) }} />}
          </Route>
          <Route path={numbered.run}>
            {({ id }) => <LazyScreen key={id} code={run} props={{ runId: Number(id) }} />}
          </Route>
          <Route path="/settings">
            <LazyScreen code={settings} props={{ tab: 'settings' }} />
          </Route>
          <Route path="/settings/doctor">
            <LazyScreen code={settings} props={{ tab: 'doctor' }} />
          </Route>
          <Route path={numbered.comparison}>
            {({ id }) => <LazyScreen key={id} code={comparison} props={{ id: Number(id) }} />}
          </Route>
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </ErrorBoundary>
    </main>
  );
}

/** One thing of a place, by its number; another text, such as a mistyped one, leads nowhere. */
const oneOf = (place: string): RegExp => new RegExp(`^${place}/(?<id>[1-9]\\d{0,14})/?$`);

const numbered = {
  dataset: oneOf('/texts/dataset'),
  sweep: oneOf('/experiments'),
  run: oneOf('/runs'),
  comparison: oneOf('/compare'),
};

function NotFound() {
  return (
    <Screen title="Page not found">
      <Panel>
        <Empty title="There is no page at this address">
          <p>
            It may be mistyped. <Link href="/">Open Home</Link>, or press Ctrl+K to search.
          </p>
        </Empty>
      </Panel>
    </Screen>
  );
}

/** A screen that is left takes the focus with it: the next key press then belongs to the new one. */
function useFocusAfterMove(location: string): RefObject<HTMLElement | null> {
  const main = useRef<HTMLElement>(null);
  const last = useRef(location);
  useEffect(() => {
    if (last.current === location) return;
    last.current = location;
    // A palette or dialog keeps the focus until it has closed, which takes a busy machine a while.
    const until = Date.now() + SETTLED_MS;
    const timer = setInterval(() => {
      const { activeElement } = document;
      const isLost = activeElement === null || activeElement === document.body;
      if (isLost) main.current?.focus({ preventScroll: true });
      // Once it is in the screen, what becomes of it there isn't the move's.
      if (isLost || main.current?.contains(activeElement) || Date.now() > until) clearInterval(timer);
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [location]);
  return main;
}

/** How often, and for how long, the page checks whether the focus is lost. */
const LOOK_MS = 120;
const SETTLED_MS = 5000;

/** Applies the theme from the settings: light, dark or the system's. */
function useTheme(): void {
  const { data } = useQuery(api.settings.get.queryOptions());
  const { setColorScheme } = useMantineColorScheme();
  const theme = data?.theme;
  useEffect(() => {
    if (theme !== undefined) setColorScheme(theme === 'system' ? 'auto' : theme);
  }, [theme, setColorScheme]);
}
