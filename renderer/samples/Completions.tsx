/** Completions of a prompt or a whole step: best and worst side by side, a histogram of rewards, then all of them. */
import { Button } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { SampleFacts } from '../../main/api/contract/index.ts';
import { binsOf } from '../charts/bins.ts';
import { Histogram } from '../charts/Histogram.tsx';
import type { WordKind } from '../components/aligned-words.ts';
import { counted, number } from '../components/format.ts';
import { useWhenIdle } from '../components/use-when-idle.ts';
import { byReward } from './prompts.ts';
import { SampleCard, Target, useSample } from './SampleCard.tsx';
import classes from './Samples.module.css';
import { VirtualList } from './VirtualList.tsx';

export interface CompletionsProps {
  readonly samples: readonly SampleFacts[];
  /** Whether all are of one prompt, whose target is then shown once on top. */
  readonly onePrompt: boolean;
  readonly scale: readonly [number, number];
  readonly hidden: ReadonlySet<WordKind>;
  readonly onRecord: (sample: SampleFacts) => void;
}

const BINS = 20;
/** Estimated height of a card before it is measured. */
const CARD = 84;

export function Completions({ samples, onePrompt, scale, hidden, onRecord }: CompletionsProps) {
  const [bin, setBin] = useState<number | null>(null);
  const ranked = useMemo(() => byReward(samples), [samples]);
  const bins = useMemo(
    () =>
      binsOf(
        samples.map(({ reward }) => reward),
        BINS,
        ...scale,
      ),
    [samples, scale],
  );
  const picked = bin === null ? undefined : bins[bin];
  const shown = useMemo(
    () =>
      picked === undefined ? ranked : ranked.filter(({ reward }) => binsOf([reward], BINS, ...scale)[bin ?? 0]?.count),
    [ranked, picked, bin, scale],
  );
  // The best and the worst come first; the others are further down.
  const isIdle = useWhenIdle();
  const scroller = useRef<HTMLElement>(null);
  const [best, worst] = [ranked[0], ranked.at(-1)];
  // Another step or prompt scrolls back to its best and worst.
  const first = best === undefined ? '' : `${best.runId} ${best.step} ${onePrompt ? best.group : 'all'}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another step or prompt is shown
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
    setBin(null);
  }, [first]);
  if (best === undefined || worst === undefined) return null;
  const name = (sample: SampleFacts): string =>
    onePrompt ? `completion ${sample.index + 1}` : `${sample.recordId}, completion ${sample.index + 1}`;
  return (
    <VirtualList
      label="Completions"
      scroller={scroller}
      head={
        <div className={classes.head}>
          {onePrompt && <PromptTarget sample={best} />}
          <div className={classes.pair}>
            <SampleCard sample={best} title="best" withTarget={!onePrompt} {...{ hidden, onRecord }} />
            <SampleCard sample={worst} title="worst" withTarget={!onePrompt} {...{ hidden, onRecord }} />
          </div>
          <Histogram
            title={`Rewards of ${counted(samples.length, 'completion')}; click a bar to filter`}
            label="Rewards"
            unit="completions"
            height={64}
            format={(value) => value.toFixed(2)}
            {...{ bins, picked: bin, onPick: setBin }}
          />
          <div className={classes.listHead}>
            <h2>
              {picked === undefined
                ? `All ${number(shown.length)}, best first`
                : `${number(shown.length)} of ${number(ranked.length)}`}
            </h2>
            {picked !== undefined && (
              <>
                <span className="soft num">
                  reward {picked.from.toFixed(2)} to {picked.to.toFixed(2)}
                </span>
                <Button variant="subtle" size="compact-xs" onClick={() => setBin(null)}>
                  Show all
                </Button>
              </>
            )}
          </div>
        </div>
      }
      headHeight={420}
      rowHeight={CARD}
      count={isIdle ? shown.length : 0}
      row={(index) => {
        const sample = shown[index];
        if (sample === undefined) return null;
        return <SampleCard sample={sample} title={name(sample)} withTarget={false} {...{ hidden, onRecord }} />;
      }}
    />
  );
}

function PromptTarget({ sample: key }: { readonly sample: SampleFacts }) {
  const { data } = useSample(key);
  return data === undefined ? null : <Target sample={data} />;
}
