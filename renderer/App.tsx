/** The page: frame around screens. Each screen is loaded when first opened. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Route, Router, Switch, useLocation } from 'wouter';

import { api } from './api/client.ts';
import { connection } from './api/connection.ts';
import { ErrorBoundary } from './components/ErrorBoundary.tsx';
import { Empty } from './components/Feedback.tsx';
import classes from './frame/Frame.module.css';
import { fetchAheadWhenIdle } from './frame/fetch-ahead.ts';
import { HostRequests } from './frame/HostRequests.tsx';
import { useHashPath } from './frame/hash-location.ts';
import { KeysProvider } from './frame/keys.tsx';
import { LazyScreen, prefetchWhenIdle, screenCode } from './frame/lazy-screen.tsx';
import { PaletteWhenIdle } from './frame/palette-when-idle.tsx';
import { Rail } from './frame/Rail.tsx';
import { Rehearsal, type Rehearsed } from './frame/Rehearsal.tsx';
import { StatusBar } from './frame/StatusBar.tsx';
import { Home } from './home/Home.tsx';
import { fetchOpening } from './run/fetch-opening.ts';
import { allRuns } from './runs/all-runs.ts';
import { sparklinesAround } from './runs/use-sparklines.ts';
import { useTheme } from './theme/use-theme.ts';

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
const run = screenCode(() => import('./run/Run.tsx').then(({ Run }) => Run));

const none = {};

/** Most screens have it, the first has not: where it comes with a screen, that is laid out and drawn a second time. */
const fixedWidthFont = {
  fetch: async () => {
    await document.fonts.load("12px 'JetBrains Mono Variable'");
  },
};

/** Those that one comes to soon go first. */
const later = [
  fixedWidthFont,
  ...[runs, run, samples, curriculum, corpus, models, compare, playground, settings, replies],
  ...[make, datasets, dataset, comparison],
];

export function App() {
  const state = useSyncExternalStore(connection.subscribe, connection.get);
  useTheme();
  const queries = useQueryClient();
  const [rehearsed, setRehearsed] = useState<readonly Rehearsed[]>([]);
  useEffect(
    () =>
      prefetchWhenIdle(later, () => {
        fetchAheadWhenIdle(queries);
        setRehearsed(rehearsals(queries));
      }),
    [queries],
  );
  if (state.kind === 'turned-away') return <TurnedAway />;
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
        <Rehearsal screens={rehearsed} />
      </KeysProvider>
    </Router>
  );
}

/** The screens that take longest at their first opening. */
function rehearsals(queries: QueryClient): readonly Rehearsed[] {
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
    async () => {
      const newest = await newestRun();
      if (newest === undefined) return null;
      await fetchOpening(queries, newest.id);
      return <LazyScreen code={run} props={{ runId: newest.id }} />;
    },
    async () => <LazyScreen code={samples} props={none} />,
  ];
}

function Page() {
  const [location] = useLocation();
  return (
    <main className={classes.page}>
      <ErrorBoundary key={location}>
        <Switch>
          <Route path="/" component={Home} />
          <Route path="/texts">
            <LazyScreen code={corpus} props={none} />
          </Route>
          <Route path="/texts/make">
            <LazyScreen code={make} props={none} />
          </Route>
          <Route path="/texts/datasets">
            <LazyScreen code={datasets} props={none} />
          </Route>
          <Route path="/texts/dataset/:id">
            {({ id }) => <LazyScreen key={id} code={dataset} props={{ datasetId: Number(id) }} />}
          </Route>
          <Route path="/curriculum">
            <LazyScreen code={curriculum} props={none} />
          </Route>
          <Route path="/replies">
            <LazyScreen code={replies} props={none} />
          </Route>
          <Route path="/runs">
            <LazyScreen code={runs} props={none} />
          </Route>
          <Route path="/runs/:id">{({ id }) => <LazyScreen key={id} code={run} props={{ runId: Number(id) }} />}</Route>
          <Route path="/settings">
            <LazyScreen code={settings} props={{ tab: 'settings' }} />
          </Route>
          <Route path="/settings/doctor">
            <LazyScreen code={settings} props={{ tab: 'doctor' }} />
          </Route>
          <Route path="/samples">
            <LazyScreen code={samples} props={none} />
          </Route>
          <Route path="/models">
            <LazyScreen code={models} props={none} />
          </Route>
          <Route path="/playground">
            <LazyScreen code={playground} props={none} />
          </Route>
          <Route path="/compare">
            <LazyScreen code={compare} props={none} />
          </Route>
          <Route path="/compare/:id">
            {({ id }) => <LazyScreen key={id} code={comparison} props={{ id: Number(id) }} />}
          </Route>
          <Route>
            <Empty title="There is no such screen" />
          </Route>
        </Switch>
      </ErrorBoundary>
    </main>
  );
}

function TurnedAway() {
  return (
    <div className={classes.away} role="alert">
      <Empty title="This page belongs to an earlier start of Braid">
        <p>
          Open the address that braid serve printed when it started. Nothing is lost: all of it is in the workspace.
        </p>
      </Empty>
    </div>
  );
}
