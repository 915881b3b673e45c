/** An old run under this version of the reward: its curve over the old one, and where the order of completions changes. */

import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { RescoredDraft } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { LineChart } from '../charts/LineChart.tsx';
import type { ChartSeries } from '../charts/series.ts';
import { Choice } from '../components/Choice.tsx';
import { Failed } from '../components/Feedback.tsx';
import { counted, number, score, signed } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { visible } from '../components/visible.ts';
import { Computing } from './Computing.tsx';
import classes from './Trial.module.css';
import { orderInWords } from './trial-words.ts';
import type { Draft } from './use-draft.ts';

export interface RescoreProps {
  readonly draft: Draft;
  readonly isReady: boolean;
  readonly runs: readonly { readonly runId: number; readonly name: string; readonly task: string }[];
}

export function Rescore({ draft, isReady, runs }: RescoreProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const run = runs.find(({ runId }) => String(runId) === chosen) ?? runs[0];
  const { data, error, isPlaceholderData, isFetching } = useQuery({
    queryKey: ['rescore', draft, run?.runId],
    queryFn: () => client.tasks.rescore({ draft, runId: run?.runId ?? 0 }),
    enabled: isReady && run !== undefined,
    placeholderData: (before, query) => (query?.queryKey[2] === run?.runId ? before : undefined),
    retry: false,
    gcTime: 10_000,
  });
  if (run === undefined)
    return (
      <p className="soft">No run has stored completions yet. Train with this task, then change its reward here.</p>
    );
  return (
    <>
      <div className={classes.source}>
        <Choice
          aria-label="Run to re-score"
          data={runs.map(({ runId, name }) => ({ value: String(runId), label: `Run ${runId}: ${name}` }))}
          value={String(run.runId)}
          onChange={setChosen}
        />
        <Link href={`/runs/${run.runId}`}>Open the run</Link>
      </div>
      {error !== null && isReady && <Failed what="The run can't be re-scored" error={error} />}
      {isFetching && <Computing />}
      {data !== undefined && <Result data={data} isOld={isPlaceholderData || !isReady} />}
    </>
  );
}

/** Rewards are stored in single precision: a smaller difference is rounding. */
function changeInWords(change: number): string {
  return Math.abs(change) < 5e-4 ? 'no change' : signed(change);
}

function Result({ data, isOld }: { readonly data: RescoredDraft; readonly isOld: boolean }) {
  const series = useMemo((): readonly ChartSeries[] => {
    const x = data.steps.map(({ step }) => step);
    return [
      {
        id: 'before',
        label: 'as it was',
        colour: 'soft',
        look: 'dashed',
        x,
        y: data.steps.map(({ before }) => before),
      },
      { id: 'after', label: 'this version', colour: 'strand-a', x, y: data.steps.map(({ after }) => after) },
    ];
  }, [data.steps]);
  const { n, total, before, after, order_changed, sign_changed, failures, without_record, changed } = data;
  const { dead_before, dead_after } = data;
  return (
    <div className={classes.result} aria-busy={isOld} data-old={isOld || undefined}>
      <p className={classes.verdict} data-tone={order_changed + sign_changed === 0 ? 'good' : 'warn'} role="status">
        {orderInWords(data)}
      </p>
      <p className="num">
        Mean reward {score(before)} before, {score(after)} with this version ({changeInWords(after - before)}), over{' '}
        {counted(n, 'stored completion')}
        {n < total - without_record && ` of ${number(total)}: time ran out`}
        {failures > 0 && `; ${number(failures)} failed`}
        {without_record > 0 && `; ${number(without_record)} without a record in the run's dataset`}. Dead groups:{' '}
        {number(dead_before)} before, {number(dead_after)} with this version.
      </p>
      {data.notes.map((note) => (
        <p key={note} className={classes.verdict} data-tone="warn">
          {note}
        </p>
      ))}
      <LineChart title="Mean reward of stored completions" series={series} format={score} height={170} />
      {changed.length > 0 && (
        <>
          <h3>Where the order changes</h3>
          {changed.map(({ step, recordId, signs, answers }) => (
            <article key={`${step} ${recordId}`} className={classes.card} aria-label={`Step ${step}, ${recordId}`}>
              <header>
                <span className="mono">
                  step {step}, {recordId}
                </span>
                <span className="faint">{number(signs)} change their sign</span>
              </header>
              <ol className={classes.answers}>
                {answers
                  .toSorted((a, b) => b.after - a.after)
                  .slice(0, 4)
                  .map(({ trial, before, after }, i) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a model may give the same completion twice
                    <li key={i}>
                      <span className="mono soft">
                        {score(before)} → {score(after)}
                      </span>{' '}
                      <span className="own-direction">{visible(trial.answer.completion) || '(empty)'}</span>
                    </li>
                  ))}
              </ol>
            </article>
          ))}
        </>
      )}
    </div>
  );
}
