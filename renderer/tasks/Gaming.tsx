/** Signs that a reward is gamed: what goes together, and how length and form drift against the check. */
import { useMemo } from 'react';
import type { GamingReport } from '../../main/api/contract/index.ts';
import { LineChart } from '../charts/LineChart.tsx';
import type { ChartSeries } from '../charts/series.ts';
import { counted, score } from '../components/format.ts';
import classes from './Trial.module.css';
import { correlation } from './trial-words.ts';

export function Gaming({ report: { names, correlations, drift, findings }, n }: GamingProps) {
  const x = useMemo(() => drift.map(({ step }) => step), [drift]);
  const worth = useMemo(
    (): readonly ChartSeries[] => [
      { id: 'reward', label: 'reward', colour: 'strand-a', x, y: drift.map(({ reward }) => reward) },
      ...(drift.some(({ check }) => Number.isFinite(check))
        ? [{ id: 'check', label: 'check', colour: 'strand-b', x, y: drift.map(({ check }) => check) } as const]
        : []),
      { id: 'cut', label: 'cut off', colour: 'bad', look: 'dotted', x, y: drift.map(({ cutOff }) => cutOff) },
      {
        id: 'repeats',
        label: 'repetition',
        colour: 'soft',
        look: 'dashed',
        x,
        y: drift.map((step) => step.repetition),
      },
    ],
    [drift, x],
  );
  const lengths = useMemo(
    (): readonly ChartSeries[] => [
      { id: 'tokens', label: 'tokens', colour: 'strand-b', x, y: drift.map(({ tokens }) => tokens) },
    ],
    [drift, x],
  );
  return (
    <div className={classes.result}>
      <ul className={classes.findings} aria-label="Findings">
        {findings.map((finding) => (
          <li key={finding}>{finding}</li>
        ))}
        {findings.length === 0 && (
          <li data-none>
            {n < 20
              ? `${counted(n, 'completion is', 'completions are')} too few to tell: sample more, or choose a run.`
              : 'Nothing stands out.'}
          </li>
        )}
      </ul>
      <h3>What goes together</h3>
      <div className={classes.matrix}>
        <table className={classes.table} aria-label="Correlations">
          <thead>
            <tr>
              <td />
              {names.map((name) => (
                <th key={name} scope="col" className="mono">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((name, i) => (
              <tr key={name}>
                <th scope="row" className="mono">
                  {name}
                </th>
                {names.map((other, j) => {
                  const r = correlations[i]?.[j] ?? Number.NaN;
                  return (
                    <td key={other} className="mono" style={{ background: i === j ? 'transparent' : tint(r) }}>
                      {i === j ? '' : Number.isNaN(r) ? '–' : correlation(r)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="soft">Pearson's r over {counted(n, 'completion')}; a dash where one of the two doesn't vary.</p>
      {drift.length > 1 ? (
        <>
          <LineChart title="Over the run" series={worth} format={score} height={150} />
          <LineChart title="Length" unit="tokens" series={lengths} height={110} />
        </>
      ) : (
        <p className="soft">Choose a run with stored completions to see how they drift over its steps.</p>
      )}
    </div>
  );
}

interface GamingProps {
  readonly report: GamingReport;
  /** Completions. */
  readonly n: number;
}

/** From the one strand's colour at -1 to the other's at 1. */
function tint(r: number): string {
  if (Number.isNaN(r)) return 'transparent';
  const strand = r > 0 ? 'a' : 'b';
  return `color-mix(in srgb, var(--strand-${strand}-tint) ${Math.round(Math.abs(r) * 100)}%, transparent)`;
}
