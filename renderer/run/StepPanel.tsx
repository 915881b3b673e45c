/** The best and worst completion of a step beside what was asked for, word by word, with a link to all of them. */
import { Button } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { memo, useMemo } from 'react';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { isSupervised } from '../charts/curve-query.ts';
import { IconButton } from '../components/IconButton.tsx';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { useKeys } from '../frame/keys.tsx';
import { BestAndWorst } from './BestAndWorst.tsx';
import classes from './Run.module.css';

export interface StepPanelProps {
  readonly detail: RunDetail;
  /** Picked in a chart; null for the newest with saved completions. */
  readonly step: number | null;
  readonly onStep: (step: number) => void;
  readonly isEnded: boolean;
}

export const StepPanel = memo(function StepPanel({ detail, step, onStep, isEnded }: StepPanelProps) {
  const { id, sampleSteps } = detail;
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
        <p className="soft">{noneWords(detail, isEnded)}</p>
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

function noneWords(run: RunDetail, isEnded: boolean): string {
  if (isSupervised(run)) return 'SFT samples no completions: it trains on the answers of the dataset.';
  if (isEnded) return 'None were saved.';
  return Number(run.config.warm_up_steps ?? 0) > 0
    ? 'None saved yet. The first step after the warm-up saves some.'
    : 'None saved yet. The first step saves some.';
}
