/** The best and the worst completion of every step that a report holds: by slider, by click in a chart, by search. */
import { createContext, useContext, useMemo, useState } from 'react';
import type { ReportedStep, RunContent } from '../../main/api/contract/index.ts';
import { folded } from '../components/folded.ts';
import { counted } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { BestAndWorst } from '../run/BestAndWorst.tsx';
import type { StepPanelProps } from '../run/StepPanel.tsx';
import { StepSlider } from '../samples/StepSlider.tsx';
import classes from './Report.module.css';

const StepsContext = createContext<Pick<RunContent, 'steps' | 'storedSteps'>>({ steps: [], storedSteps: 0 });

/** Provides the steps of a report. */
export const Steps = StepsContext;

export function ReportedSteps({ detail: { id }, step, onStep }: StepPanelProps) {
  const { steps, storedSteps } = useContext(StepsContext);
  const [words, setWords] = useState('');
  const found = useMemo(() => steps.filter((at) => contains(at, words)), [steps, words]);
  const newest = found.at(-1)?.step;
  const shown = found.some((at) => at.step === step) ? step : newest;
  if (steps.length === 0)
    return (
      <Panel title="Completions">
        <p className="soft">The run stored none.</p>
      </Panel>
    );
  return (
    <Panel
      title="Best and worst completions"
      actions={
        <input
          className={`box ${classes.find}`}
          type="search"
          placeholder="Find words"
          aria-label="Find words in prompts, targets and completions"
          value={words}
          onChange={({ currentTarget }) => setWords(currentTarget.value)}
        />
      }
    >
      {shown == null ? (
        <p className="soft">No step's best or worst completion has these words.</p>
      ) : (
        <>
          <StepSlider
            steps={found}
            step={shown}
            following={null}
            live={false}
            onStep={(to) => to !== null && onStep(to)}
          />
          <BestAndWorst runId={id} step={shown} />
        </>
      )}
      {storedSteps > steps.length && (
        <p className="faint">
          {steps.length} of {counted(storedSteps, 'stored step')}, evenly spread, so that the file stays small.
        </p>
      )}
    </Panel>
  );
}

function contains({ best, worst }: ReportedStep, words: string): boolean {
  const wanted = folded(words.trim());
  return [best, worst].some(
    (sample) =>
      sample !== null &&
      [sample.completion, sample.target, sample.prompt].some((text) => folded(text).includes(wanted)),
  );
}
