/** The best and worst completion of a step, word by word, with a link to all of them. */
import { Button } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { memo, useMemo } from 'react';
import type { RunDetail, SampleFacts } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { CompletionText } from '../components/CompletionText.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { score } from '../components/format.ts';
import { IconButton } from '../components/IconButton.tsx';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { useKeys } from '../frame/keys.tsx';
import { extremes } from './extremes.ts';
import classes from './Run.module.css';

export interface StepPanelProps {
  readonly detail: RunDetail;
  /** Picked in a chart; null for the newest with saved completions. */
  readonly step: number | null;
  readonly onStep: (step: number) => void;
}

export const StepPanel = memo(function StepPanel({
  detail: { id, method, sampleSteps },
  step,
  onStep,
}: StepPanelProps) {
  const shown = step ?? sampleSteps.at(-1) ?? null;
  const place = shown === null ? -1 : sampleSteps.indexOf(shown);
  const [before, after] = [sampleSteps[place - 1], sampleSteps[place + 1]];
  const keys = useMemo(
    () => [
      { key: 'j', label: 'Earlier step with completions', run: () => before !== undefined && onStep(before) },
      { key: 'k', label: 'Later step with completions', run: () => after !== undefined && onStep(after) },
    ],
    [before, after, onStep],
  );
  useKeys(keys);
  if (shown === null) {
    return (
      <Panel title="Completions">
        <p className="soft">
          {method === 'sft' || method === 'polychromic-sft'
            ? 'SFT samples no completions: it trains on the answers of the dataset.'
            : 'None saved yet. The first step saves some.'}
        </p>
      </Panel>
    );
  }
  return (
    <Panel
      title={`Step ${shown}`}
      actions={
        <>
          <IconButton
            aria-label="Earlier step (j)"
            disabled={before === undefined}
            onClick={() => before !== undefined && onStep(before)}
          >
            <IconChevronLeft size={15} aria-hidden="true" />
          </IconButton>
          <IconButton
            aria-label="Later step (k)"
            disabled={after === undefined}
            onClick={() => after !== undefined && onStep(after)}
          >
            <IconChevronRight size={15} aria-hidden="true" />
          </IconButton>
          <Button component={Link} href={`/samples?run=${id}&step=${shown}`} variant="default">
            All completions
          </Button>
        </>
      }
    >
      {place < 0 ? (
        <p className={`soft ${classes.note}`}>No completions were saved at this step.</p>
      ) : (
        <BestAndWorst runId={id} step={shown} />
      )}
    </Panel>
  );
});

function BestAndWorst({ runId, step }: { readonly runId: number; readonly step: number }) {
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
          group {group + 1}, {facts.length} tokens{facts.terminated ? '' : ', cut off'}
        </span>
      </h3>
      {data !== undefined && <CompletionText sample={data} label={`The ${name} completion`} />}
    </section>
  );
}
