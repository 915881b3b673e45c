/** One run: how it stands, its charts, what happened, its checkpoints and settings. Everything is live. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { RunDetail } from '../../main/services/run-history.ts';
import { api } from '../api/client.ts';
import { ChartGroup } from '../charts/ChartGroup.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Screen } from '../components/Screen.tsx';
import { useLater } from '../components/use-later.ts';
import { DeleteRun } from '../runs/DeleteRun.tsx';
import { RenameRun } from '../runs/RenameRun.tsx';
import { AdvicePanel } from './AdvicePanel.tsx';
import { Charts } from './Charts.tsx';
import { Checkpoints } from './Checkpoints.tsx';
import { ConfigPanel } from './ConfigPanel.tsx';
import { Events } from './Events.tsx';
import { ExportPanel } from './ExportPanel.tsx';
import { fetchRest } from './fetch-opening.ts';
import { KillRun } from './KillRun.tsx';
import { LineageLine } from './LineageLine.tsx';
import { ResumeDialog } from './ResumeDialog.tsx';
import classes from './Run.module.css';
import { Controls, Standing } from './RunHeader.tsx';
import { Trouble } from './Trouble.tsx';
import { markersOf, timelineOf } from './timeline.ts';
import { type ResumeChoice, useRunActions } from './use-run-actions.ts';
import { useRunFeed } from './use-run-feed.ts';
import { useRunKeys } from './use-run-keys.ts';
import { VerdictBar } from './VerdictBar.tsx';

export function Run({ runId }: { readonly runId: number }) {
  const { feed, error } = useRunFeed(runId);
  const { data: detail, error: detailError } = useQuery(api.runs.get.queryOptions({ input: { runId } }));
  const queries = useQueryClient();
  useEffect(() => void fetchRest(queries, runId).catch(() => undefined), [queries, runId]);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [, navigate] = useLocation();
  const isLater = useLater();
  const actions = useRunActions(runId);
  const timeline = useMemo(() => (detail === undefined ? [] : timelineOf(detail)), [detail]);
  const markers = useMemo(() => markersOf(timeline), [timeline]);
  const askResume = useCallback((checkpointId: number | null) => setAsked({ kind: 'resume', checkpointId }), []);
  const resumeNewest = useCallback(() => askResume(null), [askResume]);
  useRunKeys({ runId, state: feed?.live?.state ?? feed?.run.state ?? null, actions, onResume: resumeNewest });

  const problem = error ?? detailError;
  if (problem !== null) {
    return (
      <Screen title={`Run ${runId}`}>
        <Failed what="This run can't be shown" error={problem} />
      </Screen>
    );
  }
  if (feed === null || detail === undefined) {
    return (
      <Screen title={`Run ${runId}`}>
        <Loading what="the run" />
      </Screen>
    );
  }
  return (
    <Screen
      title={feed.run.name}
      about={<Standing feed={feed} />}
      actions={
        <Controls
          feed={feed}
          actions={actions}
          onAsk={(kind) => setAsked(kind === 'resume' ? { kind, checkpointId: null } : { kind })}
        />
      }
    >
      <LineageLine detail={detail} />
      {actions.failure !== null && <Failed what={actions.failure.what} error={actions.failure.error} />}
      <Trouble run={feed.run} live={feed.live} savedAt={savedAt(detail)} onResume={resumeNewest} />
      <VerdictBar verdict={feed.verdict} />
      <AdvicePanel
        runId={runId}
        isLive={feed.live !== null}
        isReinforced={detail.method !== 'sft' && detail.method !== 'polychromic-sft'}
      />
      <ChartGroup>
        <Charts feed={feed} detail={detail} markers={markers} />
      </ChartGroup>
      {isLater && (
        <>
          <div className={classes.pair}>
            <Events entries={timeline} />
            <Checkpoints detail={detail} isLive={feed.live !== null} onRollBack={askResume} />
          </div>
          <ExportPanel runId={runId} />
          <ConfigPanel runId={runId} detail={detail} />
        </>
      )}
      <Dialogs
        asked={asked}
        detail={detail}
        step={feed.run.step}
        onResume={actions.resume}
        onClose={() => setAsked(null)}
        onGone={() => navigate('/runs')}
      />
    </Screen>
  );
}

/** The step of the newest checkpoint that is there. */
function savedAt({ checkpoints }: RunDetail): number | null {
  return checkpoints.findLast(({ deletedAt }) => deletedAt === null)?.step ?? null;
}

type Asked =
  | { readonly kind: 'resume'; readonly checkpointId: number | null }
  | { readonly kind: 'kill' | 'rename' | 'delete' };

interface DialogsProps {
  readonly asked: Asked | null;
  readonly detail: RunDetail;
  readonly step: number;
  readonly onResume: (choice: ResumeChoice) => void;
  readonly onClose: () => void;
  readonly onGone: () => void;
}

function Dialogs({ asked, detail, step, onResume, onClose, onGone }: DialogsProps) {
  const { id: runId, name } = detail;
  if (asked === null) return null;
  switch (asked.kind) {
    case 'resume':
      return (
        <ResumeDialog
          detail={detail}
          checkpointId={asked.checkpointId}
          onClose={onClose}
          onResume={(choice) => {
            onClose();
            onResume(choice);
          }}
        />
      );
    case 'kill':
      return <KillRun detail={detail} step={step} onClose={onClose} />;
    case 'rename':
      return <RenameRun runId={runId} name={name} onClose={onClose} />;
    case 'delete':
      return <DeleteRun runId={runId} name={name} onClose={onClose} onGone={onGone} />;
  }
}
