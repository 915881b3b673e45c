/** The four methods as a small map: the baseline, what starts beside it, what starts from it. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { MethodView } from '../../main/services/replies/methods.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { score } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import classes from './Replies.module.css';
import { methodWords } from './words.ts';

export interface MethodsProps {
  readonly methods: readonly MethodView[];
  readonly hasSplit: boolean;
  readonly seed: number;
}

export function Methods({ methods, hasSplit, seed }: MethodsProps) {
  const start = useMutation({
    mutationFn: (method: MethodView['name']) => client.replies.start({ method, seed }),
  });
  const hasBaseline = methods.some(({ name, newest }) => name === 'baseline' && newest?.state === 'done');
  return (
    <Panel title="Four methods">
      {start.error !== null && <Failed what="The run was not started" error={start.error} />}
      <div className={classes.methods}>
        {methods.map((method) => (
          <Method
            key={method.name}
            method={method}
            seed={seed}
            missing={
              hasSplit
                ? method.reinforced && !hasBaseline
                  ? 'needs a baseline that is done'
                  : null
                : 'needs the split'
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
  method: { name, reinforced, newest, seeds, rewards },
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
      {newest === null ? (
        <p className="faint">no run yet</p>
      ) : (
        <>
          <p className={classes.standing}>
            <Link href={`/runs/${newest.runId}`}>run {newest.runId}</Link> <StateBadge state={newest.state} />{' '}
            <span className="num">
              {newest.step}/{newest.maxSteps}
            </span>
          </p>
          {(newest.reward !== null || newest.heldOut !== null) && (
            <p>
              reward <b className="num">{score(newest.reward)}</b>
              {newest.heldOut !== null && (
                <>
                  , held-out <b className="num">{score(newest.heldOut)}</b>
                </>
              )}
            </p>
          )}
        </>
      )}
      {seeds.length > 0 && (
        <p className="soft">
          {seeds.length === 1 ? 'seed' : 'seeds'} <span className="num">{seeds.join(', ')}</span>
          {rewards !== null && (
            <>
              : reward <span className="num">{`${score(rewards.mean)} ± ${score(rewards.std)}`}</span>
            </>
          )}
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
