/** A group's rewards as a histogram the size of a word. */
import { binsOf } from '../charts/bins.ts';
import classes from './Samples.module.css';

export interface BarsProps {
  readonly rewards: readonly number[];
  readonly scale: readonly [low: number, high: number];
}

const BINS = 12;

/** Decorative: the numbers stand beside it. */
export function Bars({ rewards, scale: [low, high] }: BarsProps) {
  const bins = binsOf(rewards, BINS, low, high);
  const most = Math.max(1, ...bins.map(({ count }) => count));
  return (
    <svg className={classes.bars} viewBox={`0 0 ${BINS * 4} 16`} width={BINS * 4} height={16} aria-hidden="true">
      {bins.map(({ from, count }, i) => (
        <rect key={from} x={i * 4} width={3} y={16 - (count / most) * 15} height={(count / most) * 15} />
      ))}
      <line x1={0} x2={BINS * 4} y1={15.5} y2={15.5} />
    </svg>
  );
}
