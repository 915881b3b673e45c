/** A run in a report: its result, charts, stored steps, settings, and what repeats it. */
import { useMemo } from 'react';
import type { RunContent } from '../../main/api/contract/index.ts';
import { ChartGroup } from '../charts/ChartGroup.tsx';
import { counted } from '../components/format.ts';
import { Panel, Screen } from '../components/Screen.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { When } from '../components/When.tsx';
import { Charts } from '../run/Charts.tsx';
import { RunStrip } from '../run/RunStrip.tsx';
import { openFeed } from '../run/run-feed.ts';
import { Settings } from '../run/Settings.tsx';
import { markersOf, timelineOf } from '../run/timeline.ts';
import { Repeat } from './Repeat.tsx';
import { ReportedSteps, Steps } from './ReportedSteps.tsx';

export function RunReport({ content }: { readonly content: RunContent }) {
  const { detail: stored, standing, steps } = content;
  // Charts lead to the steps that are here.
  const detail = useMemo(() => ({ ...stored, sampleSteps: steps.map(({ step }) => step) }), [stored, steps]);
  const feed = useMemo(() => openFeed({ ...standing, live: null }), [standing]);
  const markers = useMemo(() => markersOf(timelineOf(detail)), [detail]);
  const defaults = useMemo(() => new Map(Object.entries(content.defaults)), [content.defaults]);
  return (
    <Screen
      title={detail.name}
      about={
        <>
          <StateBadge state={standing.run.state} />
          <span className="num">{counted(standing.run.step, 'step')}</span>
          <When at={detail.createdAt} />
        </>
      }
    >
      <RunStrip feed={feed} detail={detail} />
      <Steps value={content}>
        <ChartGroup>
          <Charts feed={feed} detail={detail} markers={markers} Step={ReportedSteps}>
            {null}
          </Charts>
        </ChartGroup>
      </Steps>
      {detail.notes !== '' && (
        <Panel title="Notes">
          <p className="own-direction">{detail.notes}</p>
        </Panel>
      )}
      <Panel title="Configuration">
        <Settings entries={Object.entries(detail.config)} defaults={defaults} isOpen={false} />
      </Panel>
      <Repeat content={content} />
    </Screen>
  );
}
