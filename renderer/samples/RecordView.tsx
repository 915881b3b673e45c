/** One record over the run: its completions at each step that saved them. */
import { Button } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { RecordStep, RunSamples } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Sparkline } from '../charts/Sparkline.tsx';
import type { WordKind } from '../components/aligned-words.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { score } from '../components/format.ts';
import { Segments } from '../components/Segments.tsx';
import type { Place } from './place.ts';
import { SampleCard, Target, useSample } from './SampleCard.tsx';
import classes from './Samples.module.css';
import { VirtualList } from './VirtualList.tsx';

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
              {steps.length === 1 ? 'saved step' : 'saved steps'}
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
  return (
    <VirtualList
      label="Steps"
      scroller={scroller}
      {...(classes.fill && { className: classes.fill })}
      head={steps[0] !== undefined && <RecordTarget step={steps[0]} />}
      headHeight={120}
      rowHeight={120}
      count={steps.length}
      row={(index) => {
        const at = steps[index];
        return at === undefined ? null : <Step {...{ at, which, hidden, onPlace }} />;
      }}
    />
  );
}

interface StepProps extends Omit<StepsProps, 'steps'> {
  readonly at: RecordStep;
}

function Step({ at, which, hidden, onPlace }: StepProps) {
  return (
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
  );
}

function RecordTarget({ step }: { readonly step: RecordStep }) {
  const { data } = useSample(step.best);
  return <div className={classes.head}>{data !== undefined && <Target sample={data} />}</div>;
}
