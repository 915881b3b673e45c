/** The table of a sweep: each setting with mean ± interval over its seeds, and its distance from the leader. */
import { IconTrophy } from '@tabler/icons-react';
import { Fragment } from 'react';
import type { SettingRow, SweepView, TrialView } from '../../main/api/contract/index.ts';
import { score } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import classes from './Experiments.module.css';
import { type Scale, ScoreStrip, scaleOf } from './ScoreStrip.tsx';
import { scoreName } from './score-name.ts';
import { behindInWords, meanInWords, settingValue } from './words.ts';

export interface SweepTableProps {
  readonly sweep: SweepView;
  /** Settings that the plot's filter keeps; null: all. */
  readonly kept: readonly number[] | null;
}

export function SweepTable({ sweep, kept }: SweepTableProps) {
  const { fields, rows, scoreKind, threshold } = sweep;
  const shown = rows.filter(({ setting }) => kept?.includes(setting) ?? true).toSorted(byScore);
  const scale = scaleOf(rows);
  const sizes = [...new Set(rows.flatMap(({ passRates }) => passRates.map(({ k }) => k)))].sort((a, b) => a - b);
  return (
    <section aria-label="Settings">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <div className={classes.scroller} tabIndex={0}>
        <table className={classes.table}>
          <thead>
            <tr>
              {fields.length === 0 && <th scope="col">Setting</th>}
              {fields.map((field) => (
                <th key={field} scope="col" className="mono">
                  {field}
                </th>
              ))}
              <th scope="col">{scoreName(scoreKind)} ± 95%</th>
              {scale !== null && (
                <th scope="col" className={classes.strip}>
                  <span className="num">{score(scale[0])}</span> <span className="num">{score(scale[1])}</span>
                </th>
              )}
              <th scope="col">Behind the leader</th>
              {sizes.map((k) => (
                <th key={k} scope="col">
                  pass@{k}
                </th>
              ))}
              <th scope="col">Seeds</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Row key={row.setting} row={row} fields={fields} sizes={sizes} scale={scale} />
            ))}
          </tbody>
        </table>
      </div>
      <p className={classes.notes}>
        Mean over seeds with its 95% t-interval. The best setting is marked only if it is significantly better than
        every other: paired t-tests over seeds, corrected by Holm's method, level 0.05.
        {sizes.length > 0 &&
          ` pass@k: the chance that at least one of k seeds solves a held-out record${threshold === null ? '' : `, which takes a score of ${threshold}`}.`}
      </p>
    </section>
  );
}

interface RowProps {
  readonly row: SettingRow;
  readonly fields: readonly string[];
  readonly sizes: readonly number[];
  readonly scale: Scale | null;
}

function Row({ row, fields, sizes, scale }: RowProps) {
  return (
    <tr data-best={row.best || undefined}>
      {fields.length === 0 && <td>{row.label}</td>}
      {fields.map((field) => (
        <td key={field} data-number>
          {settingValue(field, row.values[field])}
        </td>
      ))}
      <td data-number>
        {meanInWords(row)}
        {row.stoppedAt !== null && <span className="faint"> at step {row.stoppedAt}</span>}
      </td>
      {scale !== null && (
        <td>
          <ScoreStrip row={row} scale={scale} />
        </td>
      )}
      <td data-number>
        {row.best && <IconTrophy size={14} aria-hidden="true" />} {behindInWords(row)}
      </td>
      {sizes.map((k) => (
        <td key={k} data-number>
          {score(row.passRates.find((pass) => pass.k === k)?.rate)}
        </td>
      ))}
      <td>
        <span className={classes.seeds}>
          {row.trials.map((trial) => (
            <Seed key={trial.id} trial={trial} />
          ))}
        </span>
      </td>
    </tr>
  );
}

/** Ended ones by their score, others by their state. */
function Seed({ trial: { seed, runId, state, score: own, run, name } }: { readonly trial: TrialView }) {
  const isOver = state === 'done' || state === 'eliminated' || state === 'reached';
  const text = (
    <Fragment>
      seed {seed}
      {isOver && own !== null && <span className="num soft">: {score(own.value)}</span>}
    </Fragment>
  );
  return (
    <span className={classes.seed}>
      {runId === null || run === null ? text : <Link href={`/runs/${runId}`}>{text}</Link>}
      {!isOver && state !== 'waiting' && (
        <span title={name}>
          {' '}
          <StateBadge state={state} />
        </span>
      )}
      {state === 'running' && run !== null && <span className="num faint"> step {run.step}</span>}
    </span>
  );
}

/** The leader, then those that trained longest, by score; settings without one last. */
function byScore(a: SettingRow, b: SettingRow): number {
  const steps = ({ stoppedAt }: SettingRow): number => stoppedAt ?? Number.POSITIVE_INFINITY;
  const value = ({ mean }: SettingRow): number => mean ?? Number.NEGATIVE_INFINITY;
  const bySteps = steps(a) === steps(b) ? 0 : steps(b) - steps(a);
  const byValue = value(a) === value(b) ? 0 : value(b) - value(a);
  return Number(b.leads) - Number(a.leads) || bySteps || byValue || a.setting - b.setting;
}
