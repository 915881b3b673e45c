/** A setting's score at a glance: its interval, its mean and each seed, on the scale of the whole table. */
import type { SettingRow } from '../../main/api/contract/index.ts';
import classes from './ScoreStrip.module.css';
import { meanInWords } from './words.ts';

/** Lowest and highest value shown. */
export type Scale = readonly [low: number, high: number];

/** Room beside the lowest and the highest score, as a share of their distance. */
const MARGIN = 0.15;

/**
 * The scale of all rows: by their scores, as the interval of two seeds may be wider than everything else. Null where
 * there is nothing to draw.
 */
export function scaleOf(rows: readonly SettingRow[]): Scale | null {
  const values = rows.flatMap(({ mean, trials }) => [
    ...(mean === null ? [] : [mean]),
    ...trials.flatMap(({ score }) => score?.value ?? []),
  ]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (values.length < 2 || low === high) return null;
  const isShare = low >= 0 && high <= 1;
  const room = MARGIN * (high - low);
  return isShare ? [Math.max(0, low - room), Math.min(1, high + room)] : [low - room, high + room];
}

export function ScoreStrip({ row, scale: [low, high] }: { readonly row: SettingRow; readonly scale: Scale }) {
  const place = (value: number): string => `${100 * Math.min(1, Math.max(0, (value - low) / (high - low)))}%`;
  const { mean, interval, trials, best, leads } = row;
  if (mean === null) return null;
  return (
    <span className={classes.strip} role="img" aria-label={meanInWords(row)} data-leads={best || leads || undefined}>
      {interval !== null && (
        <i
          className={classes.interval}
          style={{ left: place(interval.low), right: `calc(100% - ${place(interval.high)})` }}
        />
      )}
      {trials.map(
        ({ id, seed, score }) =>
          score !== null && (
            <i key={id} className={classes.seed} style={{ left: place(score.value) }} title={`seed ${seed}`} />
          ),
      )}
      <i className={classes.mean} style={{ left: place(mean) }} />
    </span>
  );
}
