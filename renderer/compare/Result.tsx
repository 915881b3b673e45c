/** The verdict and the results table: each model's mean with its interval, and its paired difference from the baseline. */
import { UnstyledButton } from '@mantine/core';
import type { ComparedModel, ComparisonView } from '../../main/api/contract/index.ts';
import { duration, number, score, signed } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { When } from '../components/When.tsx';
import classes from './Compare.module.css';
import { lookOf } from './series.ts';

export interface ResultProps {
  /** The baseline first. */
  readonly models: readonly ComparedModel[];
  readonly verdict: ComparisonView['verdict'];
  readonly metric: ComparisonView['metric'];
  /** The model shown in charts and prompts. */
  readonly chosen: number;
  readonly onChoose: (position: number) => void;
}

export function Result({ models, verdict, metric, chosen, onChoose }: ResultProps) {
  return (
    <Panel className={classes.results ?? ''}>
      {verdict !== null && <p className={classes.verdict}>{verdict}</p>}
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col" className={classes.right}>
              {metric.label}
            </th>
            <th scope="col" className={classes.own}>
              95% interval
            </th>
            <th scope="col" className={classes.right}>
              {metric.solved}
            </th>
            <th scope="col" className={classes.right}>
              Difference
            </th>
            <th scope="col">95% interval</th>
            <th scope="col" className={classes.counts}>
              Wins, ties, losses
            </th>
            <th scope="col" className={classes.evaluated}>
              Evaluated
            </th>
          </tr>
        </thead>
        <tbody>
          {models.map((model, position) => (
            <Row
              key={model.reference}
              {...{ model, metric, position }}
              chosen={position === chosen}
              onChoose={() => onChoose(position)}
            />
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

interface RowProps {
  readonly model: ComparedModel;
  readonly metric: ComparisonView['metric'];
  readonly position: number;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}

function Row({
  model: { name, summary, paired, evaluatedAt, seconds, rewardCost, backend, standing },
  ...row
}: RowProps) {
  const { metric, position, chosen, onChoose } = row;
  const { colour, look } = lookOf(position);
  const ink = `var(--${colour})`;
  return (
    <tr data-chosen={chosen || undefined}>
      <td>
        <span className={classes.name}>
          <span className={classes.swatch} data-look={look} style={{ borderColor: ink }} aria-hidden="true" />
          {position === 0 ? (
            <span>
              {name} <span className="faint">baseline</span>
            </span>
          ) : (
            <UnstyledButton aria-pressed={chosen} onClick={onChoose} title="Show its prompts below">
              {name}
            </UnstyledButton>
          )}
          {standing === 'gone' && <span className={classes.note}>since deleted</span>}
        </span>
      </td>
      <td className={`mono ${classes.right}`}>{score(summary?.mean_alignment)}</td>
      <td className={classes.own}>
        {summary !== null && (
          <Ruler
            from={metric.low}
            to={metric.high}
            low={summary.low}
            mean={summary.mean_alignment}
            high={summary.high}
            ink={ink}
          />
        )}
      </td>
      <td className={`mono ${classes.right}`}>
        {summary === null ? '–' : `${number(Math.round(summary.exact_match * summary.n))} of ${number(summary.n)}`}
      </td>
      <td className={`mono ${classes.right}`}>{paired === null ? '' : signed(paired.difference.mean)}</td>
      <td>
        {paired !== null && (
          <Ruler from={-metric.high} to={metric.high} {...paired.difference} ink={ink} isDifference />
        )}
      </td>
      <td className={classes.counts}>{paired !== null && <Paired {...paired} />}</td>
      <td className={`soft ${classes.evaluated}`}>
        {evaluatedAt === null ? (
          'not yet'
        ) : (
          <>
            <When at={evaluatedAt} />
            <div className={`faint ${classes.small}`}>
              {duration(seconds)} on {backend}
              {rewardCost !== null && `, judges ${rewardCost}`}
            </div>
          </>
        )}
      </td>
    </tr>
  );
}

interface RulerProps {
  /** The scale's ends. */
  readonly from: number;
  readonly to: number;
  readonly isDifference?: boolean;
  readonly low: number;
  readonly mean: number;
  readonly high: number;
  readonly ink: string;
}

/** An interval as numbers and as a bar on a scale. */
function Ruler({ from, to, low, mean, high, ink, isDifference = false }: RulerProps) {
  const at = (value: number): number => ((value - from) / (to - from || 1)) * 100;
  return (
    <>
      <span className={`mono ${classes.small}`}>
        {isDifference ? `${signed(low)} to ${signed(high)}` : `${score(low)}–${score(high)}`}
      </span>
      <span className={classes.ruler} aria-hidden="true">
        {isDifference && <u />}
        <i style={{ left: `${at(low)}%`, width: `${at(high) - at(low)}%`, background: ink }} />
        <b style={{ left: `${at(mean)}%`, background: ink }} />
      </span>
    </>
  );
}

interface PairedProps {
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
}

function Paired({ wins, ties, losses }: PairedProps) {
  return (
    <>
      <span className="mono">
        {wins} · {ties} · {losses}
      </span>
      <span className={classes.paired} aria-hidden="true">
        <span className={classes.wins} style={{ flex: wins }} />
        <span className={classes.ties} style={{ flex: ties }} />
        <span className={classes.losses} style={{ flex: losses }} />
      </span>
    </>
  );
}
