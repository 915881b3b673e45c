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
  // One path: a step has many prompts, and an element a bar would be most of what its list is made of.
  const path = bins.map(({ count }, i) => (count === 0 ? '' : `M${i * 4} 16v${(-15 * count) / most}h3V16z`)).join('');
  return (
    <svg className={classes.bars} viewBox={`0 0 ${BINS * 4} 16`} width={BINS * 4} height={16} aria-hidden="true">
      <path d={path} />
      <line x1={0} x2={BINS * 4} y1={15.5} y2={15.5} />
    </svg>
  );
}
