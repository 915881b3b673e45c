/** A live run: progress, scores, time left, and the two main buttons. */
import { useQuery } from '@tanstack/react-query';
import type { HeldOutStanding, LiveStatus, RunDetail } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { isSupervised } from '../charts/curve-query.ts';
import { Sparkline } from '../charts/Sparkline.tsx';
import { Failed } from '../components/Feedback.tsx';
import { backendText, duration, number, score } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { Silence } from '../components/Silence.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { LiveButtons } from '../run/LiveButtons.tsx';
import { shownState, waitsFor } from '../run/live-words.ts';
import { useRunActions } from '../run/use-run-actions.ts';
import { StrandMark } from '../theme/strand-mark.tsx';
import classes from './Home.module.css';

/** How often a live run's sparkline is refreshed. */
const EVERY_MS = 2000;

const LABELS = { reward: 'training reward', loss: 'loss', 'warm_up/loss': 'warm-up loss' } as const;

/** The metric that says how the training goes: supervised steps have no reward. */
export function trainedBy(run: Pick<RunDetail, 'method' | 'latest'>): keyof typeof LABELS {
  if (isSupervised(run)) return 'loss';
  const { reward, 'warm_up/loss': warmUp } = run.latest;
  return reward === undefined && warmUp !== undefined ? 'warm_up/loss' : 'reward';
}

export function LiveCard({ live }: { readonly live: LiveStatus }) {
  const { runId, state, step, maxSteps, reward, secondsLeft, silentSeconds, backend, threads, reason } = live;
  const actions = useRunActions(runId);
  const { data: run } = useQuery(api.runs.get.queryOptions({ input: { runId } }));
  const name = run === undefined ? 'reward' : trainedBy(run);
  const input = { runIds: [runId], count: 60, name };
  const { data } = useQuery(api.runs.sparklines.queryOptions({ input, refetchInterval: EVERY_MS }));
  const values = data?.[runId] ?? [];
  const label = LABELS[name];
  const value = name === 'reward' ? score(reward) : number(values.at(-1));
  return (
    <Panel className={classes.live ?? ''}>
      <StrandMark size={44} progress={maxSteps === 0 ? 0 : step / maxSteps} />
      <div className={classes.liveName}>
        <Link href={`/runs/${runId}`}>
          <strong>{live.name}</strong>
        </Link>
        <span>
          <StateBadge state={shownState(live)} />{' '}
          <span className="num">
            step {number(step)} of {number(maxSteps)}
          </span>
          {silentSeconds !== null && (
            <>
              , <Silence seconds={silentSeconds} />
            </>
          )}
          {state === 'running' && silentSeconds === null && secondsLeft !== null && (
            <span className="soft">, {duration(secondsLeft)} left</span>
          )}
        </span>
        <span className="faint">
          {waitsFor(live) ?? reason ?? (backend === null ? '' : backendText(backend, threads))}
        </span>
      </div>
      <Figure label={label} value={value}>
        <Sparkline
          values={values}
          label={`${label.charAt(0).toUpperCase()}${label.slice(1)}, now ${value}`}
          width={170}
          height={36}
          {...(name === 'reward' && { min: 0, max: 1 })}
        />
      </Figure>
      <Figure label="held-out" value={score(run?.standing?.newest?.mean)} tone={run?.standing?.tone}>
        <span className="faint num">baseline {score(run?.standing?.baseline)}</span>
      </Figure>
      <div className={classes.buttons}>
        <LiveButtons live={live} actions={actions} />
      </div>
      {actions.failure !== null && <Failed what={actions.failure.what} error={actions.failure.error} />}
    </Panel>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: string;
  readonly tone?: HeldOutStanding['tone'] | undefined;
  readonly children: React.ReactNode;
}

function Figure({ label, value, tone, children }: FigureProps) {
  return (
    <div className={classes.figure} data-tone={tone}>
      <span className="soft">{label}</span>
      <b className="num">{value}</b>
      {children}
    </div>
  );
}
