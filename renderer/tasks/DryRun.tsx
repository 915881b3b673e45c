/** A dry run: how the rewards are spread, which groups would teach nothing, failures, the best and the worst. */
import { useMemo } from 'react';
import type { ScoredCompletion, TrialReport } from '../../main/api/contract/index.ts';
import { binsOf } from '../charts/bins.ts';
import { Histogram } from '../charts/Histogram.tsx';
import { CompletionText } from '../components/CompletionText.tsx';
import { largest, smallest } from '../components/extremes.ts';
import { counted, number, score } from '../components/format.ts';
import { isolated } from '../components/isolated.ts';
import { GroupBars } from './GroupBars.tsx';
import classes from './Trial.module.css';
import { deadInWords, verdictOf } from './trial-words.ts';

export interface DryRunProps {
  readonly report: TrialReport;
  /** Whether it is of an earlier text. */
  readonly isOld: boolean;
  readonly seconds: number;
  readonly show: 'aligned' | 'beside' | 'plain' | 'json' | 'code';
}

const BINS = 24;

export function DryRun({ report, isOld, seconds, show }: DryRunProps) {
  const { n, given, total, rewards, mean, std, groups, components, check, failures, reasons, notes } = report;
  const bins = useMemo(() => {
    const real = rewards.filter(Number.isFinite);
    const [low, high] = [smallest(real, 0), largest(real, 1)];
    return binsOf(rewards, BINS, low, high);
  }, [rewards]);
  const verdict = verdictOf(report);
  return (
    <div className={classes.result} aria-busy={isOld} data-old={isOld || undefined}>
      <p className={classes.verdict} data-tone={verdict.tone} role="status">
        {verdict.text}
      </p>
      <dl className={classes.tiles}>
        <Tile name="reward" value={score(mean)} note={`± ${score(std)}`} />
        <Tile name="dead groups" value={`${number(report.dead)} of ${number(groups.length)}`} isBad={report.dead > 0} />
        <Tile name="ties" value={report.pairs === 0 ? '–' : `${Math.round((100 * report.ties) / report.pairs)}%`} />
        <Tile name="failures" value={number(failures)} isBad={failures > 0} />
        <Tile name="time each" value={`${number(report.msPerCompletion)} ms`} />
        {check !== null && <Tile name={check.name} value={score(check.mean)} note="check" />}
      </dl>
      <p className="soft num">
        {counted(n, 'completion')} in {seconds.toFixed(2)} s
        {n < given && `; stopped there, as the reward takes long (${number(given)} were to be tried)`}
        {given < total && `, of ${number(total)} stored`}
      </p>
      {notes.map((note) => (
        <p key={note} className="soft">
          {note}.
        </p>
      ))}
      {reasons.length > 0 && (
        <ul className={classes.reasons} aria-label="Failures">
          {reasons.map(({ reason, n: times }) => (
            <li key={reason}>
              <span className="num">{number(times)} ×</span> <span className="mono">{reason}</span>
            </li>
          ))}
        </ul>
      )}
      <Histogram title="Rewards" label="Rewards" bins={bins} unit="completions" height={84} format={short} />
      {groups.length > 0 && (
        <>
          <h3>
            Groups <span className="faint">{deadInWords(report)}</span>
          </h3>
          <GroupBars groups={groups} low={bins[0]?.from ?? 0} high={bins.at(-1)?.to ?? 1} />
        </>
      )}
      {components.length > 1 && <Components components={components} />}
      <Extremes title="Best" of={report.best} show={show} />
      <Extremes title="Worst" of={report.worst} show={show} />
    </div>
  );
}

function short(value: number): string {
  return String(Number(value.toFixed(2)));
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  readonly isBad?: boolean;
}

function Tile({ name, value, note, isBad = false }: TileProps) {
  return (
    <div data-bad={isBad || undefined}>
      <dt>{name}</dt>
      <dd className="num">
        {value} {note !== undefined && <span className="faint">{note}</span>}
      </dd>
    </div>
  );
}

function Components({ components }: Pick<TrialReport, 'components'>) {
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col" className={classes.name}>
            Component
          </th>
          <th scope="col">Weight</th>
          <th scope="col">Mean</th>
          <th scope="col">Spread</th>
        </tr>
      </thead>
      <tbody>
        {components.map(({ name, weight, mean, std }) => (
          <tr key={name}>
            <th scope="row" className="mono">
              {name}
            </th>
            <td className="mono">{number(weight)}</td>
            <td className="mono">{score(mean)}</td>
            <td className="mono">{score(std)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ExtremesProps {
  readonly title: string;
  readonly of: readonly ScoredCompletion[];
  readonly show: DryRunProps['show'];
}

function Extremes({ title, of, show }: ExtremesProps) {
  if (of.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      {of.map(({ recordId, step, prompt, completion, messages, reward, components }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: equal completions of one record can be among them
        <article key={i} className={classes.card} aria-label={`${title} ${i + 1}`}>
          <header>
            <span className="mono">{score(reward)}</span>
            {Object.keys(components).length > 1 && (
              <span className="mono soft">
                {Object.entries(components)
                  .map(([name, value]) => `${isolated(name)} ${short(value)}`)
                  .join(' · ')}
              </span>
            )}
            <span className="faint mono" title={prompt}>
              {recordId}
              {step !== null && `, step ${step}`}
            </span>
          </header>
          <CompletionText
            sample={{ completion, alignment: null, show, ...(messages && { messages }) }}
            label={`${title} ${i + 1}`}
          />
        </article>
      ))}
    </>
  );
}
