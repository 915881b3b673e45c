/** The four methods: the baseline, the one trained beside it, and those that start from it. */
import { Button, Progress } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { MethodView, Spread, StartPoints } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { duration, score } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import classes from './Replies.module.css';
import { StartChoice } from './StartChoice.tsx';
import { methodWords } from './words.ts';

export interface MethodsProps {
  readonly methods: readonly MethodView[];
  readonly points: StartPoints;
  readonly hasSplit: boolean;
  readonly hasStart: boolean;
  readonly seed: number;
}

export function Methods({ methods, points, hasSplit, hasStart, seed }: MethodsProps) {
  const start = useMutation({
    mutationFn: (method: MethodView['name']) => client.replies.start({ method, seed }),
  });
  return (
    <Panel title="Four methods">
      <StartChoice model={points.model} start={points.start} />
      {start.error !== null && <Failed what="The run was not started" error={start.error} />}
      <div className={classes.methods}>
        {methods.map((method) => (
          <Method
            key={method.name}
            method={method}
            seed={seed}
            missing={
              hasSplit ? (method.reinforced && !hasStart ? 'needs a baseline on this split' : null) : 'needs the split'
            }
            isStarting={start.isPending && start.variables === method.name}
            onStart={() => start.mutate(method.name)}
          />
        ))}
      </div>
    </Panel>
  );
}

interface MethodProps {
  readonly method: MethodView;
  readonly seed: number;
  readonly missing: string | null;
  readonly isStarting: boolean;
  readonly onStart: () => void;
}

function Method({
  method: { name, reinforced, newest, seeds, rewards, heldOuts },
  seed,
  missing,
  isStarting,
  onStart,
}: MethodProps) {
  const { label, about } = methodWords[name];
  return (
    <section className={classes.method} data-reinforced={reinforced || undefined} aria-label={label}>
      <h3>
        {label} <span className="faint">phase {reinforced ? 2 : 1}</span>
      </h3>
      <p className="soft">{about}</p>
      {newest === null ? <p className="faint">no run yet</p> : <Newest run={newest} />}
      {seeds.length > 0 && (
        <p className="soft">
          {seeds.length === 1 ? 'seed' : 'seeds'} <span className="num">{seeds.join(', ')}</span>
          {heldOuts !== null && <Over what="held-out" spread={heldOuts} />}
          {heldOuts === null && rewards !== null && <Over what="reward" spread={rewards} />}
        </p>
      )}
      <div className={classes.foot}>
        <Button
          variant="default"
          aria-label={`Start with seed ${seed}: ${label}`}
          disabled={missing !== null}
          loading={isStarting}
          onClick={onStart}
        >
          Start with seed {seed}
        </Button>
        {missing !== null && <span className="soft">{missing}</span>}
      </div>
    </section>
  );
}

/** Mean and standard deviation over the seeds. */
function Over({ what, spread: { mean, std } }: { readonly what: string; readonly spread: Spread }) {
  return (
    <>
      : {what} <span className="num">{`${score(mean)} ± ${score(std)}`}</span>
    </>
  );
}

/** The newest run: its progress while it trains, and its held-out score. */
function Newest({ run }: { readonly run: NonNullable<MethodView['newest']> }) {
  const { data: status } = useQuery(api.app.status.queryOptions());
  const live = status?.live.find(({ runId }) => runId === run.runId) ?? null;
  const step = live?.step ?? run.step;
  const reward = live?.reward ?? run.reward;
  return (
    <>
      <p className={classes.standing}>
        <Link href={`/runs/${run.runId}`}>run {run.runId}</Link> <StateBadge state={live?.state ?? run.state} />{' '}
        <span className="num">
          {step}/{run.maxSteps}
        </span>
      </p>
      {live !== null && (
        <p className={classes.pace}>
          <Progress value={(100 * step) / run.maxSteps} size="sm" aria-label={`Steps of run ${run.runId}`} />
          <span className="soft num">
            {live.secondsLeft === null ? 'starting …' : `${duration(live.secondsLeft)} left`}
          </span>
        </p>
      )}
      {run.heldOut !== null && (
        <p>
          held-out <b className="num">{score(run.heldOut)}</b>
          {run.heldOutBefore !== null && <span className="soft num"> from {score(run.heldOutBefore)}</span>}
        </p>
      )}
      {reward !== null && (
        <p>
          training reward <b className="num">{score(reward)}</b>
        </p>
      )}
    </>
  );
}
