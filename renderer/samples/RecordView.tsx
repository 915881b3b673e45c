/** One record through the run: what its completions were at each step that kept it. */
import { Button } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import type { RecordStep, RunSamples } from '../../main/services/samples.ts';
import { api } from '../api/client.ts';
import { Sparkline } from '../charts/Sparkline.tsx';
import type { WordKind } from '../components/aligned-words.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { score } from '../components/format.ts';
import { Segments } from '../components/Segments.tsx';
import type { Place } from './place.ts';
import { SampleCard, Target, useSample } from './SampleCard.tsx';
import classes from './Samples.module.css';

export interface RecordViewProps {
  readonly run: RunSamples;
  readonly record: string;
  readonly onPlace: (change: Partial<Place>) => void;
  readonly hidden: ReadonlySet<WordKind>;
}

type Which = 'best' | 'worst' | 'both';

export function RecordView({ run, record, onPlace, hidden }: RecordViewProps) {
  const input = { runId: run.runId, recordId: record };
  const { data: steps, error, refetch } = useQuery(api.samples.ofRecord.queryOptions({ input }));
  const [which, setWhich] = useState<Which>('best');
  return (
    <>
      <div className={classes.detailHead}>
        <Button
          variant="default"
          leftSection={<IconArrowLeft size={14} aria-hidden="true" />}
          onClick={() => onPlace({ show: 'step' })}
        >
          Back to the step
        </Button>
        <h2>{record}</h2>
        {steps !== undefined && (
          <>
            <Sparkline
              values={steps.map(({ mean }) => mean)}
              min={0}
              max={1}
              width={160}
              label={`Mean reward from ${score(steps[0]?.mean)} to ${score(steps.at(-1)?.mean)}`}
            />
            <span className="soft num">
              mean {score(steps[0]?.mean)} → {score(steps.at(-1)?.mean)} over {steps.length}{' '}
              {steps.length === 1 ? 'kept step' : 'kept steps'}
            </span>
          </>
        )}
        <span className={classes.gap} />
        <Segments
          aria-label="Which completions"
          data={['best', 'worst', 'both']}
          value={which}
          onChange={(value) => setWhich(value as Which)}
        />
      </div>
      {error !== null && <Failed what="This record can't be shown" error={error} onRetry={() => void refetch()} />}
      {steps === undefined && error === null && <Loading what="the record" />}
      {steps !== undefined && error === null && <Steps {...{ steps, which, hidden, onPlace }} />}
    </>
  );
}

interface StepsProps {
  readonly steps: readonly RecordStep[];
  readonly which: Which;
  readonly hidden: ReadonlySet<WordKind>;
  readonly onPlace: (change: Partial<Place>) => void;
}

function Steps({ steps, which, hidden, onPlace }: StepsProps) {
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: steps.length + 1,
    getScrollElement: () => scroller.current,
    estimateSize: () => 120,
    overscan: 3,
  });
  return (
    <section ref={scroller} className={`${classes.completions} ${classes.fill}`} aria-label="Steps" tabIndex={-1}>
      <div className={classes.inner} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const at = steps[index - 1];
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={classes.row}
              style={{ transform: `translateY(${start}px)` }}
            >
              {at === undefined ? (
                <First step={steps[0]} />
              ) : (
                <div className={classes.recordStep}>
                  <button
                    type="button"
                    className={classes.stepLink}
                    onClick={() => onPlace({ show: 'step', step: at.step, group: at.group })}
                  >
                    <strong className="num">step {at.step}</strong>
                    <span className="soft num">
                      mean {score(at.mean)} of {at.n}
                    </span>
                  </button>
                  <div className={which === 'both' ? classes.pair : undefined}>
                    {which !== 'worst' && <SampleCard sample={at.best} title="best" hidden={hidden} />}
                    {which !== 'best' && <SampleCard sample={at.worst} title="worst" hidden={hidden} />}
                  </div>
                </div>
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}

function First({ step }: { readonly step: RecordStep | undefined }) {
  return step === undefined ? null : <RecordTarget step={step} />;
}

function RecordTarget({ step }: { readonly step: RecordStep }) {
  const { data } = useSample(step.best);
  return <div className={classes.head}>{data !== undefined && <Target sample={data} />}</div>;
}
