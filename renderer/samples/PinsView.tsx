/** Pinned completions side by side, from any step and run. */
import { Button } from '@mantine/core';
import type { SampleKey } from '../../main/api/contract/index.ts';
import type { WordKind } from '../components/aligned-words.ts';
import { Empty } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { keyText, MAX_PINS, pinName, usePins } from './pins.ts';
import { noFilter, writePlace } from './place.ts';
import { SampleCard, useSample } from './SampleCard.tsx';
import classes from './Samples.module.css';

export function PinsView({ hidden }: { readonly hidden: ReadonlySet<WordKind> }) {
  const { pins, clear } = usePins();
  if (pins.length === 0)
    return (
      <Empty title="Nothing is pinned">
        <p>
          Pin up to {MAX_PINS} completions with the pin button on each, or a step's best and worst with B and W, to
          compare them here side by side, from any step and run.
        </p>
      </Empty>
    );
  return (
    <>
      <div className={classes.detailHead}>
        <span className="soft">
          {pins.length} of {MAX_PINS} pinned
        </span>
        <Button variant="default" onClick={clear}>
          Unpin all
        </Button>
      </div>
      <div className={classes.pins} style={{ gridTemplateColumns: `repeat(${pins.length}, minmax(0, 1fr))` }}>
        {pins.map((pin) => (
          <PinCard key={keyText(pin)} pin={pin} hidden={hidden} />
        ))}
      </div>
    </>
  );
}

interface PinCardProps {
  readonly pin: SampleKey;
  readonly hidden: ReadonlySet<WordKind>;
}

function PinCard({ pin, hidden }: PinCardProps) {
  const { data } = useSample(pin);
  const { runId: run, step, group } = pin;
  const name = pinName(pin, data);
  const title = (
    <Link href={writePlace({ show: 'step', run, step, group, record: null, filter: noFilter })} title={name}>
      {name}
    </Link>
  );
  return <SampleCard sample={pin} title={title} name={name} hidden={hidden} withTarget />;
}
