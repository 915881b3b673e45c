/** The Replies screen: what was found, the replies side by side, the comparison; then the methods and their data. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { MethodView } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { BoundedNumber } from '../components/BoundedNumber.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Panel, Screen } from '../components/Screen.tsx';
import { Checklist } from './Checklist.tsx';
import { DataPanel } from './DataPanel.tsx';
import { findingOf, seedsSentence } from './finding.ts';
import { JobLine } from './JobLine.tsx';
import { Methods } from './Methods.tsx';
import { OverSeeds } from './OverSeeds.tsx';
import classes from './Replies.module.css';
import { Report } from './Report.tsx';
import { SideBySide } from './SideBySide.tsx';
import { SplitPanel } from './SplitPanel.tsx';
import { Trial } from './Trial.tsx';
import { useReplyWork } from './use-reply-work.ts';

const FIRST_SEED = 42;

export function Replies() {
  const { data: desk, error, refetch } = useQuery(api.replies.desk.queryOptions());
  const [seed, setSeed] = useState(FIRST_SEED);
  const work = useReplyWork();
  const { data: report } = useQuery(api.replies.report.queryOptions());
  const hasResults = report != null || desk?.methods.some(({ newest }) => newest?.state === 'done') === true;
  const results = desk !== undefined && (
    <>
      <SideBySide />
      <Report methods={desk.methods} hasStart={desk.start !== null} seed={seed} work={work} />
      <OverSeeds wholeSeeds={desk.wholeSeeds} work={work} />
    </>
  );
  return (
    <Screen
      title="Replies"
      about="Short social replies: two training phases, a six-part reward, four methods"
      actions={
        <>
          <span className={classes.seed}>
            Seed
            <BoundedNumber aria-label="Seed" w={84} min={0} max={2 ** 32 - 1} value={seed} onChange={setSeed} />
          </span>
          <Button
            disabled={work.isBusy || desk === undefined}
            onClick={() => work.begin('The full pipeline could not be started', () => client.replies.whole({ seed }))}
          >
            Run the full pipeline
          </Button>
        </>
      }
    >
      {error !== null && <Failed what="The reply system can't be shown" error={error} onRetry={() => void refetch()} />}
      {work.failure !== null && <Failed what={work.failure.what} error={work.failure.error} />}
      <JobLine jobs={work.jobs} />
      {desk === undefined && error === null && <Loading what="the reply system" />}
      {desk !== undefined && (
        <>
          <FindingPanel methods={desk.methods} />
          {/* Before the first result there is nothing to read: what to do comes first. */}
          {hasResults && results}
          <Methods
            methods={desk.methods}
            points={desk}
            hasSplit={desk.split !== null}
            hasStart={desk.hasStart}
            seed={seed}
          />
          <div className={classes.pair}>
            <DataPanel data={desk.data} />
            <Trial trial={desk.trial} seed={seed} work={work} />
          </div>
          <SplitPanel split={desk.split} seed={seed} />
          <Checklist seed={seed} />
          {!hasResults && results}
        </>
      )}
    </Screen>
  );
}

function FindingPanel({ methods }: { readonly methods: readonly MethodView[] }) {
  const { data: report } = useQuery(api.replies.report.queryOptions());
  const { data: table } = useQuery(api.replies.overSeeds.queryOptions());
  if (report === undefined) return null;
  const over = table == null ? null : seedsSentence(table);
  const { sentence, limits, kind } = findingOf(report, methods);
  return (
    <Panel className={classes.finding ?? ''}>
      <p data-kind={kind}>{sentence}</p>
      {over !== null && <p>{over}</p>}
      <p className="soft">{limits}</p>
    </Panel>
  );
}
