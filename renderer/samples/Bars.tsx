/** A group's rewards as a word-sized histogram. */
import { binsOf } from '../charts/bins.ts';
import classes from './Samples.module.css';

export interface BarsProps {
  readonly rewards: readonly number[];
  readonly scale: readonly [low: number, high: number];
}

const BINS = 12;

/** Decorative: the numbers are beside it. */
export function Bars({ rewards, scale: [low, high] }: BarsProps) {
  const bins = binsOf(rewards, BINS, low, high);
  const maxCount = Math.max(1, ...bins.map(({ count }) => count));
  // One path: with an element per bar, bars would make up maxCount of the prompt list's DOM.
  const path = bins
    .map(({ count }, i) => (count === 0 ? '' : `M${i * 4} 16v${(-15 * count) / maxCount}h3V16z`))
    .join('');
  return (
    <svg className={classes.bars} viewBox={`0 0 ${BINS * 4} 16`} width={BINS * 4} height={16} aria-hidden="true">
      <path d={path} />
      <line x1={0} x2={BINS * 4} y1={15.5} y2={15.5} />
    </svg>
  );
}
