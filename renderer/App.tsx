/** The page: frame around screens. Each screen is loaded when first opened. */
import { lazy, Suspense, useSyncExternalStore } from 'react';
import { Route, Router, Switch, useLocation } from 'wouter';

import { connection } from './api/connection.ts';
import { ErrorBoundary } from './components/ErrorBoundary.tsx';
import { Empty, Loading } from './components/Feedback.tsx';
import classes from './frame/Frame.module.css';
import { HostRequests } from './frame/HostRequests.tsx';
import { useHashPath } from './frame/hash-location.ts';
import { KeysProvider } from './frame/keys.tsx';
import { Palette } from './frame/Palette.tsx';
import { Rail } from './frame/Rail.tsx';
import { StatusBar } from './frame/StatusBar.tsx';
import { Home } from './home/Home.tsx';
import { useTheme } from './theme/use-theme.ts';

const Runs = lazy(() => import('./runs/Runs.tsx').then(({ Runs }) => ({ default: Runs })));
const Compare = lazy(() => import('./compare/Compare.tsx').then(({ Compare }) => ({ default: Compare })));
const Comparison = lazy(() => import('./compare/Comparison.tsx').then(({ Comparison }) => ({ default: Comparison })));
const Curriculum = lazy(() =>
  import('./curriculum/Curriculum.tsx').then(({ Curriculum }) => ({ default: Curriculum })),
);
const Settings = lazy(() => import('./settings/Settings.tsx').then(({ Settings }) => ({ default: Settings })));
const Playground = lazy(() =>
  import('./playground/Playground.tsx').then(({ Playground }) => ({ default: Playground })),
);
const Samples = lazy(() => import('./samples/Samples.tsx').then(({ Samples }) => ({ default: Samples })));
const Corpus = lazy(() => import('./texts/Corpus.tsx').then(({ Corpus }) => ({ default: Corpus })));
const Make = lazy(() => import('./texts/Make.tsx').then(({ Make }) => ({ default: Make })));
const Datasets = lazy(() => import('./texts/Datasets.tsx').then(({ Datasets }) => ({ default: Datasets })));
const Dataset = lazy(() => import('./texts/Dataset.tsx').then(({ Dataset }) => ({ default: Dataset })));
const Models = lazy(() => import('./models/Models.tsx').then(({ Models }) => ({ default: Models })));
const Replies = lazy(() => import('./replies/Replies.tsx').then(({ Replies }) => ({ default: Replies })));
const Run = lazy(() => import('./run/Run.tsx').then(({ Run }) => ({ default: Run })));

export function App() {
  const state = useSyncExternalStore(connection.subscribe, connection.get);
  useTheme();
  if (state.kind === 'turned-away') return <TurnedAway />;
  return (
    <Router hook={useHashPath}>
      <KeysProvider>
        <div className={classes.frame}>
          <Rail />
          <Page />
          <StatusBar />
        </div>
        <Palette />
        <HostRequests />
      </KeysProvider>
    </Router>
  );
}

function Page() {
  const [location] = useLocation();
  return (
    <main className={classes.page}>
      <ErrorBoundary key={location}>
        <Suspense fallback={<Loading what="the screen" />}>
          <Switch>
            <Route path="/" component={Home} />
            <Route path="/texts" component={Corpus} />
            <Route path="/texts/make" component={Make} />
            <Route path="/texts/datasets" component={Datasets} />
            <Route path="/texts/dataset/:id">{({ id }) => <Dataset key={id} datasetId={Number(id)} />}</Route>
            <Route path="/curriculum" component={Curriculum} />
            <Route path="/replies" component={Replies} />
            <Route path="/runs" component={Runs} />
            <Route path="/runs/:id">{({ id }) => <Run key={id} runId={Number(id)} />}</Route>
            <Route path="/settings">
              <Settings tab="settings" />
            </Route>
            <Route path="/settings/doctor">
              <Settings tab="doctor" />
            </Route>
            <Route path="/samples" component={Samples} />
            <Route path="/models" component={Models} />
            <Route path="/playground" component={Playground} />
            <Route path="/compare" component={Compare} />
            <Route path="/compare/:id">{({ id }) => <Comparison key={id} id={Number(id)} />}</Route>
            <Route>
              <Empty title="There is no such screen" />
            </Route>
          </Switch>
        </Suspense>
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
