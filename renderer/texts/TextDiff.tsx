/** Two texts side by side, with the words that only one of them has marked. */
import { Fragment } from 'react';
import type { TextComparison } from '../../main/api/contract/index.ts';
import { counted, number } from '../components/format.ts';
import { columnOf, diffSummary } from './diff-view.ts';
import classes from './TextDiff.module.css';

export interface TextDiffProps {
  readonly comparison: TextComparison;
  /** Headings of the columns: "In the corpus", "To import". */
  readonly names: readonly [string, string];
}

export function TextDiff({ comparison, names }: TextDiffProps) {
  return (
    <>
      <p className="soft num">{diffSummary(comparison.runs)}</p>
      <div className={classes.columns}>
        <Column {...{ comparison }} which="first" name={names[0]} />
        <Column {...{ comparison }} which="second" name={names[1]} />
      </div>
    </>
  );
}

interface ColumnProps {
  readonly comparison: TextComparison;
  readonly which: 'first' | 'second';
  readonly name: string;
}

const sides = { train: 'for training', test: 'held out' } as const;

function Column({ comparison, which, name }: ColumnProps) {
  const { title, source, words, side } = comparison[which];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={classes.column} data-which={which} tabIndex={0} aria-label={`${name}: ${title}`}>
      <h3>
        <span className="soft">{name}</span> {title}
      </h3>
      <p className="soft num">
        {counted(words, 'word')}, from {source}
        {side !== null && `, ${sides[side]}`}
      </p>
      <p className={`own-direction ${classes.words}`}>
        {columnOf(comparison.runs, which).map((part, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their place
          <Fragment key={i}>
            {part.kind === 'skipped' ? (
              <span className={classes.skipped}>… {number(part.count)} same words …</span>
            ) : part.kind === 'own' ? (
              <mark>{part.text}</mark>
            ) : (
              part.text
            )}{' '}
          </Fragment>
        ))}
      </p>
    </section>
  );
}
