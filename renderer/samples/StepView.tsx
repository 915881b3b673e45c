/** One step of a run: its prompts on the left, the completions of one or all of them on the right. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { RunSamples } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import type { WordKind } from '../components/aligned-words.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { useKeys } from '../frame/keys.tsx';
import { Completions } from './Completions.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import { PromptList } from './PromptList.tsx';
import { usePins } from './pins.ts';
import type { Place } from './place.ts';
import { byReward, nearestStep, type PromptOrder, promptsOf, rewardScale } from './prompts.ts';
import classes from './Samples.module.css';
import { StepSlider } from './StepSlider.tsx';

export interface StepViewProps {
  readonly run: RunSamples;
  readonly place: Place;
  readonly onPlace: (change: Partial<Place>) => void;
  readonly hidden: ReadonlySet<WordKind>;
}

export function StepView({ run, place, onPlace, hidden }: StepViewProps) {
  const [order, setOrder] = useState<PromptOrder>('order');
  const steps = run.steps.map((known) => known.step);
  const newest = steps.at(-1) ?? 0;
  const step = place.step === null ? newest : (nearestStep(steps, place.step) ?? newest);
  const { data, error, refetch, isPlaceholderData } = useQuery(
    api.samples.ofStep.queryOptions({ input: { runId: run.runId, step }, placeholderData: keepPreviousData }),
  );
  // Prefetches the adjacent steps, so that J and K respond at once.
  const queries = useQueryClient();
  const [before, after] = [steps[steps.indexOf(step) - 1], steps[steps.indexOf(step) + 1]];
  useEffect(() => {
    for (const beside of [before, after])
      if (beside !== undefined)
        void queries.prefetchQuery(api.samples.ofStep.queryOptions({ input: { runId: run.runId, step: beside } }));
  }, [queries, run.runId, before, after]);
  const prompts = useMemo(() => promptsOf(data ?? [], order), [data, order]);
  const scale = useMemo(() => rewardScale(data ?? []), [data]);
  const chosen = prompts.find(({ group }) => group === place.group);
  const shown = chosen?.samples ?? data;
  const goStep = (by: number): void => {
    const next = steps[steps.indexOf(step) + by];
    if (next !== undefined) onPlace({ step: next });
  };
  const goPrompt = (by: number): void => {
    const groups = [null, ...prompts.map(({ group }) => group)];
    const next = groups[groups.indexOf(chosen?.group ?? null) + by];
    if (next !== undefined) onPlace({ group: next });
  };
  const pins = usePins();
  const pin = (which: 0 | -1): void => {
    const sample = byReward(shown ?? []).at(which);
    // Placeholder data is still that of the previous step.
    if (sample !== undefined && !isPlaceholderData) pins.toggle(sample);
  };
  const latest = useRef({ goStep, goPrompt, pin, onPlace });
  latest.current = { goStep, goPrompt, pin, onPlace };
  useKeys(
    useMemo(
      () => [
        { key: 'j', label: 'Previous step', run: () => latest.current.goStep(-1) },
        { key: 'k', label: 'Next step', run: () => latest.current.goStep(1) },
        { key: 'Home', label: 'First step', run: () => latest.current.onPlace({ step: 0 }) },
        { key: 'End', label: 'Follow the newest step', run: () => latest.current.onPlace({ step: null }) },
        { key: 'ArrowUp', label: 'Previous prompt', run: () => latest.current.goPrompt(-1) },
        { key: 'ArrowDown', label: 'Next prompt', run: () => latest.current.goPrompt(1) },
        { key: 'b', label: 'Pin the best', run: () => latest.current.pin(0) },
        { key: 'w', label: 'Pin the worst', run: () => latest.current.pin(-1) },
      ],
      [],
    ),
  );
  return (
    <>
      <StepSlider
        steps={run.steps}
        step={step}
        following={place.step === null}
        live={run.state === 'running' || run.state === 'paused'}
        onStep={(next) => onPlace({ step: next })}
      />
      <NearestStepNote asked={place.step} step={step} run={run} />
      {error !== null && <Failed what="This step can't be shown" error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the step" />}
      {shown !== undefined && error === null && (
        <div className={classes.split} aria-busy={isPlaceholderData}>
          <PromptList
            {...{ prompts, scale, order }}
            chosen={chosen?.group ?? null}
            onChoose={(group) => onPlace({ group })}
            onOrder={setOrder}
          />
          <div className={classes.detail}>
            <div className={classes.detailHead}>
              <h2>{chosen === undefined ? `Step ${step}` : chosen.recordId}</h2>
              {chosen?.dead && (
                <span className={classes.dead}>All rewards are equal: there is nothing to learn from this group.</span>
              )}
              <span className={classes.gap} />
              <ExportMenu
                filter={{ runId: run.runId, step, ...(chosen && { group: chosen.group }) }}
                name={`run-${run.runId}-step-${step}${chosen === undefined ? '' : `-group-${chosen.group}`}`}
                order="highest"
              />
            </div>
            <Completions
              samples={shown}
              onePrompt={chosen !== undefined}
              {...{ scale, hidden }}
              onRecord={({ recordId }) => onPlace({ show: 'record', record: recordId })}
            />
          </div>
        </div>
      )}
    </>
  );
}

interface NearestStepNoteProps {
  readonly asked: number | null;
  readonly step: number;
  readonly run: RunSamples;
}

/** Says why another step is shown than the one asked for. */
function NearestStepNote({ asked, step, run }: NearestStepNoteProps) {
  if (asked === null || asked === step || (asked === 0 && run.steps[0]?.step === step)) return null;
  const why =
    asked > run.step
      ? `${run.name} is at step ${run.step}: it was rolled back to a checkpoint, or has not reached step ${asked} yet.`
      : `Completions of step ${asked} were not saved: only those of every ${run.sampleSteps} steps, the first and the last are.`;
  return (
    <p className={classes.note} role="status">
      {why} Showing step {step}, the nearest.
    </p>
  );
}
