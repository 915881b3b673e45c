/** The run at a glance: held-out score against the goal, gain, time, cost, and the verdict on the training signal. */
import { IconAlertTriangle, IconCircleCheck, IconInfoCircle, IconTrendingDown } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { HeldOutStanding, RunDetail, Verdict } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { counted, duration, money, number, score, signed } from '../components/format.ts';
import classes from './Run.module.css';
import { hasEnded, type RunFeed } from './run-feed.ts';

const FRESH_MS = 3000;

export function RunStrip({ feed, detail }: { readonly feed: RunFeed; readonly detail: RunDetail }) {
  const { tone } = feed.verdict;
  return (
    <>
      <div className={classes.strip} data-tone={tone}>
        <dl className={classes.figures}>
          <HeldOut standing={detail.standing} isEnded={hasEnded(feed)} />
          <TimeAndCost feed={feed} />
        </dl>
        <VerdictText verdict={feed.verdict} />
      </div>
      <CostFailure feed={feed} />
    </>
  );
}

interface HeldOutProps {
  readonly standing: HeldOutStanding | null;
  readonly isEnded: boolean;
}

function HeldOut({ standing, isEnded }: HeldOutProps) {
  const { newest = null, best = null, baseline = null, goal = null } = standing ?? {};
  const unevaluated = isEnded ? 'not evaluated' : 'not evaluated yet';
  if (newest === null) {
    const note = baseline === null ? unevaluated : `baseline ${score(baseline)}`;
    return <Figure name="Held-out" value="–" note={note} />;
  }
  const isBetterBefore = best !== null && best.mean > newest.mean;
  return (
    <>
      <Figure
        name="Held-out"
        value={score(newest.mean)}
        tone={standing?.tone}
        note={
          goal !== null
            ? `goal ${number(goal.at_least)}`
            : isBetterBefore
              ? `best ${score(best.mean)}`
              : `step ${number(newest.step)}`
        }
      />
      {baseline !== null && (
        <Figure name="Gain" value={signed(newest.mean - baseline)} note={`baseline ${score(baseline)}`} />
      )}
    </>
  );
}

const costOf = ({ run, live }: RunFeed) => {
  // Also of a run that trains in another process.
  const isLive = (live?.state ?? run.state) === 'running';
  return api.runs.cost.queryOptions({ input: { runId: run.id }, refetchInterval: isLive && FRESH_MS });
};

function TimeAndCost({ feed }: { readonly feed: RunFeed }) {
  const { run, live } = feed;
  const { data: cost } = useQuery(costOf(feed));
  if (cost === undefined) return null;
  // Before the first step, nothing is known: 0 would promise the end.
  const left = live?.secondsLeft ?? (cost.left.seconds || null);
  const { spent } = cost;
  const remaining = cost.left.cost ?? 0;
  return (
    <>
      {live === null ? (
        <Figure
          name="Trained for"
          value={duration(spent.seconds)}
          note={`${number(run.step)} of ${counted(run.maxSteps, 'step')}`}
        />
      ) : (
        <Figure
          name="Time left"
          value={left === null ? '–' : duration(left)}
          note={left === null ? 'known after a step' : `${duration(spent.seconds)} so far`}
        />
      )}
      {spent.cost !== null && (
        <Figure
          name="Cost"
          value={money(spent.cost, spent.currency)}
          note={
            live !== null && remaining > 0 ? `${money(spent.cost + remaining, spent.currency)} expected` : 'in total'
          }
        />
      )}
    </>
  );
}

/** Below the figures, which have no room for a reason. */
export function CostFailure({ feed }: { readonly feed: RunFeed }) {
  const { data, error, refetch } = useQuery(costOf(feed));
  if (data !== undefined || error === null) return null;
  return <Failed what="Time and cost can't be shown" error={error} onRetry={() => void refetch()} />;
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly tone?: HeldOutStanding['tone'] | undefined;
}

function Figure({ name, value, note, tone }: FigureProps) {
  return (
    <div data-tone={tone}>
      <dt>{name}</dt>
      <dd className="num">
        <strong>{value}</strong>
        {note}
      </dd>
    </div>
  );
}

const icons = { good: IconCircleCheck, quiet: IconInfoCircle, warn: IconAlertTriangle, bad: IconTrendingDown } as const;

/** What is observed, whether it matters, what to do. */
function VerdictText({ verdict: { tone, title, sentences, remedy } }: { readonly verdict: Verdict }) {
  const Icon = icons[tone];
  return (
    <section className={classes.verdict} aria-label="Verdict on the signal">
      <Icon size={18} aria-hidden="true" />
      <p>
        <strong>{title}:</strong> {sentences.join(' ')}
        {remedy !== null && <span className={classes.remedy}> {remedy}</span>}
      </p>
    </section>
  );
}
