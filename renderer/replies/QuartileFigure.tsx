/** The share of records in each engagement quartile: before the split, and in both phases. */
import type { SplitRecord, SplitStatistics } from '../../main/api/contract/index.ts';
import classes from './Replies.module.css';

const WIDTH = 420;
const HEIGHT = 170;
const PLOT = { left: 34, right: 416, top: 10, bottom: 128 } as const;
const BAR = 22;

export function QuartileFigure({ split: { borders, before, after } }: { readonly split: SplitRecord }) {
  const [low, middle, high] = borders.map(Math.round);
  const groups = [`up to ${low}`, `to ${middle}`, `to ${high}`, `above ${high}`];
  const series = [
    ['all', shares(before)],
    ['phase1', shares(after.sft)],
    ['phase2', shares(after.grpo)],
  ] as const;
  const max = Math.max(...series.flatMap(([, values]) => values), 0.1);
  const y = (share: number): number => PLOT.bottom - (share / max) * (PLOT.bottom - PLOT.top);
  const step = (PLOT.right - PLOT.left) / groups.length;
  return (
    <figure className={classes.quartiles}>
      <figcaption>
        Share of records by engagement
        <span data-series="all">before</span>
        <span data-series="phase1">phase 1</span>
        <span data-series="phase2">phase 2</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={inWords(groups, series)}>
        {[0, max / 2, max].map((share) => (
          <g key={share}>
            <line x1={PLOT.left} x2={PLOT.right} y1={y(share)} y2={y(share)} />
            <text x={PLOT.left - 6} y={y(share) + 4} textAnchor="end">
              {Math.round(share * 100)}%
            </text>
          </g>
        ))}
        {groups.map((name, g) => (
          <g key={name} transform={`translate(${PLOT.left + g * step} 0)`}>
            {series.map(([key, values], s) => (
              <rect
                key={key}
                data-series={key}
                x={step / 2 + (s - 1.5) * (BAR + 1)}
                width={BAR}
                y={y(values[g] ?? 0)}
                height={PLOT.bottom - y(values[g] ?? 0)}
              />
            ))}
            <text x={step / 2} y={PLOT.bottom + 18} textAnchor="middle">
              {name}
            </text>
          </g>
        ))}
        <text x={(PLOT.left + PLOT.right) / 2} y={HEIGHT - 4} textAnchor="middle">
          engagement: likes, reposts and replies
        </text>
      </svg>
    </figure>
  );
}

function shares({ quartiles, records }: SplitStatistics): readonly number[] {
  return quartiles.map((count) => (records === 0 ? 0 : count / records));
}

function inWords(groups: readonly string[], series: readonly (readonly [string, readonly number[]])[]): string {
  const names: Readonly<Record<string, string>> = { all: 'before', phase1: 'phase 1', phase2: 'phase 2' };
  return groups
    .map((name, g) => {
      const parts = series.map(([key, values]) => `${names[key]} ${Math.round((values[g] ?? 0) * 100)}%`);
      return `Engagement ${name}: ${parts.join(', ')}`;
    })
    .join('. ');
}
