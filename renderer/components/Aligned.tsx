/**
 * A completion against its target, word by word. Colour says whose strand a word is of; whether it is right is told by
 * its form: plain, wavy underline, hollow chip, struck through.
 */
import { type KeyboardEvent, memo, type ReactNode, useState } from 'react';
import type { AlignedWord } from '../../main/services/word-alignment.ts';
import classes from './Aligned.module.css';
import { countKinds, describeAlignment, foldWords, type WordKind, wordKinds } from './aligned-words.ts';
import { PlainButton } from './PlainButton.tsx';

export interface AlignedProps {
  readonly words: readonly AlignedWord[];
  /** What it is, for those who can't see: "Best completion". */
  readonly label: string;
  /** Kinds that are not pointed out; see `Legend`. */
  readonly hidden?: ReadonlySet<WordKind>;
  /** Never folded: where the text grows while it is read. */
  readonly open?: boolean;
  /** Shows that more words are on their way. */
  readonly growing?: boolean;
}

/** The words of an alignment. Tab goes to the first wrong word, the arrow keys to the others. */
export const Aligned = memo(function Aligned({ words, label, hidden, open = false, growing = false }: AlignedProps) {
  const [opened, setOpened] = useState(false);
  const folded = foldWords(words);
  const shown = open || opened ? words : folded.shown;
  const firstWrong = shown.findIndex(({ kind }) => kind === 'wrong');
  return (
    // biome-ignore lint/a11y/useSemanticElements: no element says "these words belong together" but a form's fieldset
    <div className={classes.aligned} role="group" aria-label={`${label}: ${describeAlignment(words)}`} onKeyDown={walk}>
      {shown.map((word, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: words repeat; their place is what they are
        <Word key={i} word={word} hidden={hidden} focusable={i === firstWrong} />
      ))}
      {growing && <span className={classes.cursor} aria-hidden="true" />}
      {words.length === 0 && !growing && <span className="faint">no words</span>}
      {!open && folded.hidden > 0 && (
        <PlainButton className={classes.fold} aria-expanded={opened} onClick={() => setOpened(!opened)}>
          {opened ? 'Show less' : `Show ${folded.hidden} more words${errorsIn(folded.hiddenErrors)}`}
        </PlainButton>
      )}
    </div>
  );
});

function errorsIn(count: number): string {
  return count === 0 ? '' : `, ${count} of them not right`;
}

interface WordProps {
  readonly word: AlignedWord;
  readonly hidden: ReadonlySet<WordKind> | undefined;
  readonly focusable: boolean;
}

function Word({ word: { kind, expected, got, strand }, hidden, focusable }: WordProps) {
  const quiet = hidden?.has(kind) ?? false;
  const colour = strand === null ? '' : classes[strand];
  switch (kind) {
    case 'match':
      return <span className={`${colour} ${quiet ? classes.quiet : ''}`}>{got} </span>;
    case 'wrong':
      if (quiet) return <span className={colour}>{got} </span>;
      return (
        <span className={classes.place}>
          <button
            type="button"
            className={`${classes.wrong} ${colour}`}
            tabIndex={focusable ? 0 : -1}
            aria-label={`${got}, wrong, expected ${expected}`}
          >
            {got}
          </button>
          <span className={`${classes.expected} ${colour}`} aria-hidden="true">
            {expected}
          </span>{' '}
        </span>
      );
    case 'missing':
      if (quiet) return null;
      return (
        <>
          <span className={`${classes.missing} ${colour}`}>
            <Said>missing: </Said>
            {expected}
          </span>{' '}
        </>
      );
    case 'extra':
      if (quiet) return null;
      return (
        <span>
          <del className={classes.extra}>
            <Said>extra: </Said>
            {got}
          </del>{' '}
        </span>
      );
  }
}

function Said({ children }: { readonly children: ReactNode }) {
  return <span className={`visually-hidden ${classes.said}`}>{children}</span>;
}

/** Left and right go from one wrong word to the next. */
function walk({ key, currentTarget, target }: KeyboardEvent<HTMLElement>): void {
  const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return;
  const words = [...currentTarget.querySelectorAll<HTMLElement>(`.${classes.wrong}`)];
  words[words.indexOf(target as HTMLElement) + step]?.focus();
}

export interface LegendProps {
  readonly hidden: ReadonlySet<WordKind>;
  readonly onChange: (hidden: ReadonlySet<WordKind>) => void;
  /** With these, each kind says how many words it has. */
  readonly words?: readonly AlignedWord[];
}

const meanings: Readonly<Record<WordKind, string>> = {
  match: 'Words that are right, in the colour of their strand',
  wrong: 'Another word stands here; the expected one shows above it',
  missing: 'Words of the target that were left out',
  extra: 'Words that the target does not have',
};

/** What the forms mean; each is a switch that points its kind out or not. */
export function Legend({ hidden, onChange, words }: LegendProps) {
  const counts = words === undefined ? null : countKinds(words);
  const toggle = (kind: WordKind): void => {
    const next = new Set(hidden);
    if (!next.delete(kind)) next.add(kind);
    onChange(next);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div className={classes.legend} role="group" aria-label="Kinds of words">
      <span>
        <span className={classes.a}>A</span> <span className={classes.b}>B</span>
        <Said> strand A is teal, strand B is amber</Said>
      </span>
      {wordKinds.map((kind) => (
        <PlainButton
          key={kind}
          className={classes.key}
          title={meanings[kind]}
          aria-pressed={!hidden.has(kind)}
          onClick={() => toggle(kind)}
        >
          <span className={`${kind === 'match' ? '' : classes[kind]} ${kind === 'extra' ? '' : classes.a}`}>
            {kind}
          </span>
          {counts !== null && <span className="num faint">{counts[kind]}</span>}
        </PlainButton>
      ))}
    </div>
  );
}
