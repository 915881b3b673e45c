/** The prompts of a step, each with the rewards of its group. */

import { useEffect, useRef } from 'react';
import { Choice } from '../components/Choice.tsx';
import { counted, score } from '../components/format.ts';
import { PlainButton } from '../components/PlainButton.tsx';
import { useRows } from '../components/use-rows.ts';
import { Bars } from './Bars.tsx';
import type { PromptGroup, PromptOrder } from './prompts.ts';
import classes from './Samples.module.css';

export interface PromptListProps {
  readonly prompts: readonly PromptGroup[];
  readonly scale: readonly [number, number];
  /** Null: the whole step. */
  readonly chosen: number | null;
  readonly onChoose: (group: number | null) => void;
  readonly order: PromptOrder;
  readonly onOrder: (order: PromptOrder) => void;
}

const ROW = 44;
const orders: readonly { readonly value: PromptOrder; readonly label: string }[] = [
  { value: 'order', label: 'in step order' },
  { value: 'lowest', label: 'lowest mean first' },
  { value: 'spread', label: 'widest spread first' },
];

export function PromptList({ prompts, scale, chosen, onChoose, order, onOrder }: PromptListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useRows({
    count: prompts.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 6,
    reservedHeight: 230,
  });
  const position = prompts.findIndex(({ group }) => group === chosen);
  useEffect(() => {
    if (position >= 0) virtual.scrollToIndex(position, { align: 'auto' });
  }, [position, virtual]);
  const completions = prompts.reduce((sum, { samples }) => sum + samples.length, 0);
  return (
    <nav className={classes.prompts} aria-label="Prompts of the step">
      <Choice aria-label="Prompt order" data={orders} value={order} onChange={onOrder} />
      <PlainButton
        className={classes.prompt}
        aria-current={chosen === null || undefined}
        onClick={() => onChoose(null)}
      >
        <strong>The whole step</strong>
        <span className="soft num">{counted(completions, 'completion')}</span>
      </PlainButton>
      <div ref={scroller} className={classes.scroller}>
        <div className={classes.inner} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const prompt = prompts[index];
            if (prompt === undefined) return null;
            return (
              <div key={prompt.group} className={classes.row} style={{ transform: `translateY(${start}px)` }}>
                <Prompt {...{ prompt, scale }} here={prompt.group === chosen} onChoose={() => onChoose(prompt.group)} />
              </div>
            );
          })}
        </div>
      </div>
    </nav>
  );
}

interface PromptProps {
  readonly prompt: PromptGroup;
  readonly scale: readonly [number, number];
  readonly here: boolean;
  readonly onChoose: () => void;
}

function Prompt({ prompt, scale, here, onChoose }: PromptProps) {
  const { recordId, samples, mean, lowest, highest, dead } = prompt;
  return (
    <PlainButton className={classes.prompt} aria-current={here || undefined} onClick={onChoose}>
      <span className={classes.line}>
        <span className={classes.record} title={recordId}>
          {recordId}
        </span>
        <strong className="mono">{score(mean)}</strong>
      </span>
      <span className={classes.line}>
        <Bars rewards={samples.map(({ reward }) => reward)} scale={scale} />
        <span className="soft num">{dead ? 'no spread' : `${score(lowest)} – ${score(highest)}`}</span>
      </span>
    </PlainButton>
  );
}
