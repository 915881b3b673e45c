/** The best and the worst completion of a step beside what was asked for, word by word. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { SampleFacts } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { CompletionText } from '../components/CompletionText.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { counted, score } from '../components/format.ts';
import { Target } from '../samples/SampleCard.tsx';
import { extremes } from './best-and-worst.ts';
import classes from './Run.module.css';

export function BestAndWorst({ runId, step }: { readonly runId: number; readonly step: number }) {
  const { data, error } = useQuery({
    ...api.samples.ofStep.queryOptions({ input: { runId, step } }),
    placeholderData: keepPreviousData,
  });
  if (error !== null) return <Failed what="The completions can't be shown" error={error} />;
  if (data === undefined) return <Loading what="completions" />;
  const { best, worst } = extremes(data);
  if (best === undefined) return <p className={`soft ${classes.note}`}>None of the completions was scored.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={classes.samples} tabIndex={0} aria-label="Best and worst completion">
      <Completion facts={best} name="best" />
      {worst !== undefined && worst !== best && <Completion facts={worst} name="worst" />}
    </section>
  );
}

function Completion({ facts, name }: { readonly facts: SampleFacts; readonly name: string }) {
  const { runId, step, group, index, reward } = facts;
  const { data } = useQuery({
    ...api.samples.get.queryOptions({ input: { runId, step, group, index } }),
    placeholderData: keepPreviousData,
  });
  return (
    <section className={classes.sample}>
      <h3>
        {name} <span className="mono">{score(reward)}</span>
        <span className="faint">
          group {group + 1}, {counted(facts.length, 'token')}
          {facts.terminated ? '' : ', cut off'}
        </span>
      </h3>
      {data !== undefined && (
        <>
          <CompletionText sample={data} label={`The ${name} completion`} />
          <details open className={classes.asked}>
            <summary>Prompt and target</summary>
            <Target sample={data} />
          </details>
        </>
      )}
    </section>
  );
}
