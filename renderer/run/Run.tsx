/** One run, live: status, charts, events, checkpoints and settings. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { ChartGroup } from '../charts/ChartGroup.tsx';
import { isSupervised } from '../charts/curve-query.ts';
import { Confirm } from '../components/Confirm.tsx';
import { FreeRun } from '../components/config-form/FreeRun.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { Screen } from '../components/Screen.tsx';
import { useWhenIdle } from '../components/use-when-idle.ts';
import { NewSweep } from '../experiments/NewSweep.tsx';
import { DeleteRun } from '../runs/DeleteRun.tsx';
import { RenameRun } from '../runs/RenameRun.tsx';
import { AdvicePanel } from './AdvicePanel.tsx';
import { Charts } from './Charts.tsx';
import { Checkpoints } from './Checkpoints.tsx';
import { ComparisonFailure } from './CompareLink.tsx';
import { ConfigPanel } from './ConfigPanel.tsx';
import { canCompare, controlOf, noRollBack } from './control.ts';
import { Events } from './Events.tsx';
import { ExportPanel } from './ExportPanel.tsx';
import { KillRun } from './KillRun.tsx';
import { LineageLine } from './LineageLine.tsx';
import { shownState } from './live-words.ts';
import { NotesPanel } from './NotesPanel.tsx';
import { prefetchRest } from './prefetch.ts';
import { ResumeDialog } from './ResumeDialog.tsx';
import classes from './Run.module.css';
import { Controls, Standing } from './RunHeader.tsx';
import { RunProblem } from './RunProblem.tsx';
import { RunStrip } from './RunStrip.tsx';
import { hasEnded } from './run-feed.ts';
import { SignalPanel } from './SignalPanel.tsx';
import { markersOf, timelineOf } from './timeline.ts';
import { type ResumeChoice, useRunActions } from './use-run-actions.ts';
import { useRunFeed } from './use-run-feed.ts';
import { useRunKeys } from './use-run-keys.ts';

export function Run({ runId }: { readonly runId: number }) {
  const { feed, error } = useRunFeed(runId);
  const { data: detail, error: detailError } = useQuery(api.runs.get.queryOptions({ input: { runId } }));
  const queries = useQueryClient();
  useEffect(() => void prefetchRest(queries, runId).catch(() => undefined), [queries, runId]);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [, navigate] = useLocation();
  // Not while it is still loading: the lower panels would then be rendered together with the first view.
  const isIdle = useWhenIdle(feed !== null && detail !== undefined);
  const actions = useRunActions(runId);
  const timeline = useMemo(() => (detail === undefined ? [] : timelineOf(detail)), [detail]);
  const markers = useMemo(() => markersOf(timeline), [timeline]);
  const askResume = useCallback((checkpointId: number | null) => setAsked({ kind: 'resume', checkpointId }), []);
  const resumeNewest = useCallback(() => askResume(null), [askResume]);
  const askStop = useCallback(() => setAsked({ kind: 'stop' }), []);
  const state =
    feed !== null && controlOf(feed) === 'here' ? (feed.live === null ? feed.run.state : shownState(feed.live)) : null;
  useRunKeys({ runId, state, actions, onResume: resumeNewest, onStop: askStop });

  const problem = error ?? detailError;
  if (problem !== null) {
    return (
      <Screen title={`Run ${runId}`} about={<Link href="/runs">All runs</Link>}>
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
      about={<Standing feed={feed} isResuming={actions.isBusy} />}
      actions={
        <Controls
          feed={feed}
          detail={detail}
          actions={actions}
          onAsk={(kind) => setAsked(kind === 'resume' ? { kind, checkpointId: null } : { kind })}
        />
      }
    >
      <LineageLine detail={detail} />
      {actions.failure !== null && <Failed what={actions.failure.what} error={actions.failure.error} />}
      <RunProblem
        run={feed.run}
        live={feed.live}
        savedAt={savedAt(detail)}
        lacks={detail.lacks}
        events={detail.events}
      />
      <RunStrip feed={feed} detail={detail} />
      {canCompare(feed) && <ComparisonFailure detail={detail} />}
      <ChartGroup>
        <Charts feed={feed} detail={detail} markers={markers}>
          <AdvicePanel
            runId={runId}
            isLive={feed.live !== null && feed.live.state !== 'paused'}
            isEnded={hasEnded(feed)}
            step={feed.live?.step ?? feed.run.step}
            verdict={feed.verdict}
            isReinforced={!isSupervised(detail)}
          />
        </Charts>
      </ChartGroup>
      {isIdle && (
        <>
          <SignalPanel runId={runId} isLive={feed.live !== null && feed.live.state !== 'paused'} />
          <div className={classes.pair}>
            <Events entries={timeline} isEnded={hasEnded(feed)} />
            <Checkpoints
              detail={detail}
              isEnded={hasEnded(feed)}
              noRollBack={noRollBack(feed)}
              onRollBack={askResume}
            />
          </div>
          <div className={classes.pair}>
            <NotesPanel
              key={runId}
              runId={runId}
              createdAt={detail.createdAt}
              notes={detail.notes}
              tags={detail.tags}
            />
            <ExportPanel runId={runId} />
          </div>
          <ConfigPanel runId={runId} detail={detail} />
        </>
      )}
      <Dialogs
        asked={asked}
        detail={detail}
        step={feed.run.step}
        onResume={actions.resume}
        onClose={() => setAsked(null)}
        onDeleted={() => navigate('/runs')}
      />
    </Screen>
  );
}

/** The step of the newest checkpoint that still exists. */
function savedAt({ checkpoints }: RunDetail): number | null {
  return checkpoints.findLast(({ deletedAt }) => deletedAt === null)?.step ?? null;
}

type Asked =
  | { readonly kind: 'resume'; readonly checkpointId: number | null }
  | { readonly kind: 'stop' | 'clone' | 'sweep' | 'kill' | 'rename' | 'delete' };

interface DialogsProps {
  readonly asked: Asked | null;
  readonly detail: RunDetail;
  readonly step: number;
  readonly onResume: (choice: ResumeChoice) => void;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

function Dialogs({ asked, detail, step, onResume, onClose, onDeleted }: DialogsProps) {
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
    case 'clone':
      return (
        <FreeRun opened follows={{ runId, base: detail.config, change: {}, name: `${name} copy` }} onClose={onClose} />
      );
    case 'sweep':
      return <NewSweep opened like={{ runId, config: detail.config }} onClose={onClose} />;
    case 'stop':
      return <StopRun detail={detail} onClose={onClose} />;
    case 'kill':
      return <KillRun detail={detail} step={step} onClose={onClose} />;
    case 'rename':
      return <RenameRun runId={runId} name={name} onClose={onClose} />;
    case 'delete':
      return <DeleteRun runId={runId} name={name} onClose={onClose} onDeleted={onDeleted} />;
  }
}

/** Asks before a key stops a run. */
function StopRun({
  detail: { id: runId, name },
  onClose,
}: {
  readonly detail: RunDetail;
  readonly onClose: () => void;
}) {
  const stop = useMutation({ mutationFn: () => client.runs.stop({ runId }), onSuccess: onClose });
  return (
    <Confirm opened title={`Stop ${name}?`} action="Stop & save" mutation={stop} onClose={onClose}>
      The current step is finished and saved. The run can be resumed from there.
    </Confirm>
  );
}
