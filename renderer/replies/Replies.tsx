/** The Replies screen: data, the two-phase split, four methods, a small-scale test and the comparison. */
import { Button, NumberInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, client } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Screen } from '../components/Screen.tsx';
import { Checklist } from './Checklist.tsx';
import { DataPanel } from './DataPanel.tsx';
import { JobLine } from './JobLine.tsx';
import { Methods } from './Methods.tsx';
import classes from './Replies.module.css';
import { Report } from './Report.tsx';
import { SplitPanel } from './SplitPanel.tsx';
import { Trial } from './Trial.tsx';
import { useReplyWork } from './use-reply-work.ts';

const FIRST_SEED = 42;

export function Replies() {
  const { data: desk, error } = useQuery(api.replies.desk.queryOptions());
  const [seed, setSeed] = useState(FIRST_SEED);
  const work = useReplyWork();
  return (
    <Screen
      title="Replies"
      about="Short social replies: two training phases, a six-part reward, four methods"
      actions={
        <>
          <span className={classes.seed}>
            Seed
            <NumberInput
              aria-label="Seed"
              w={84}
              min={0}
              max={4294967295}
              allowDecimal={false}
              hideControls
              value={seed}
              onChange={(value) => typeof value === 'number' && setSeed(value)}
            />
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
      {error !== null && <Failed what="The reply system can't be shown" error={error} />}
      {work.failure !== null && <Failed what={work.failure.what} error={work.failure.error} />}
      <JobLine jobs={work.jobs} />
      {desk === undefined && error === null && <Loading what="the reply system" />}
      {desk !== undefined && (
        <>
          <div className={classes.pair}>
            <DataPanel data={desk.data} />
            <Trial trial={desk.trial} seed={seed} work={work} />
          </div>
          <SplitPanel split={desk.split} seed={seed} />
          <Checklist seed={seed} />
          <Methods methods={desk.methods} points={desk} hasSplit={desk.split !== null} seed={seed} />
          <Report methods={desk.methods} hasStart={desk.start !== null} seed={seed} work={work} />
        </>
      )}
    </Screen>
  );
}
