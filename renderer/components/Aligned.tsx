/**
 * A completion aligned with its target, word by word. Colour shows a word's strand; the style shows whether it is
 * right: plain, wavy underline, hollow chip or struck through.
 */

import { type KeyboardEvent, memo, type ReactNode, useState } from 'react';
import type { AlignedWord } from '../../main/api/contract/index.ts';
import classes from './Aligned.module.css';
import { countKinds, describeAlignment, foldWords, type WordKind, wordKinds } from './aligned-words.ts';
import { counted } from './format.ts';
import { PlainButton } from './PlainButton.tsx';
import { visible } from './visible.ts';

export interface AlignedProps {
  readonly words: readonly AlignedWord[];
  /** Accessible name: "Best completion". */
  readonly label: string;
  /** Kinds that are not highlighted; see `Legend`. */
  readonly hidden?: ReadonlySet<WordKind>;
  /** Never folded, for text that is still streaming. */
  readonly open?: boolean;
  /** Shows a cursor while more words are streaming in. */
  readonly growing?: boolean;
}

/** The words of an alignment. Tab focuses the first wrong word; the arrow keys move to the others. */
export const Aligned = memo(function Aligned({ words, label, hidden, open = false, growing = false }: AlignedProps) {
  const [opened, setOpened] = useState(false);
  const folded = foldWords(words);
  const shown = open || opened ? words : folded.shown;
  const firstWrong = shown.findIndex(({ kind }) => kind === 'wrong');
  return (
    // biome-ignore lint/a11y/useSemanticElements: the only grouping element is fieldset, which is for forms
    <div
      className={`own-direction ${classes.aligned}`}
      role="group"
      aria-label={`${label}: ${describeAlignment(words)}`}
      onKeyDown={walk}
    >
      {shown.map((word, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: words repeat; their position is their identity
        <Word key={i} word={word} hidden={hidden} focusable={i === firstWrong} />
      ))}
      {growing && <span className={classes.cursor} aria-hidden="true" />}
      {words.length === 0 && !growing && <span className="faint">no words</span>}
      {!open && folded.hidden > 0 && (
        <PlainButton className={classes.fold} aria-expanded={opened} onClick={() => setOpened(!opened)}>
          {opened ? 'Show less' : `Show ${counted(folded.hidden, 'more word')}${errorsIn(folded.hiddenErrors)}`}
        </PlainButton>
      )}
    </div>
  );
});

function errorsIn(count: number): string {
  return count === 0 ? '' : ` (${counted(count, 'error')})`;
}

interface WordProps {
  readonly word: AlignedWord;
  readonly hidden: ReadonlySet<WordKind> | undefined;
  readonly focusable: boolean;
}

function Word({ word: { kind, strand, ...texts }, hidden, focusable }: WordProps) {
  const [expected, got] = [texts.expected, texts.got].map((text) => (text === null ? null : visible(text)));
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
            <ScreenReaderText>missing: </ScreenReaderText>
            {expected}
          </span>{' '}
        </>
      );
    case 'extra':
      if (quiet) return null;
      return (
        <span>
          <del className={classes.extra}>
            <ScreenReaderText>extra: </ScreenReaderText>
            {got}
          </del>{' '}
        </span>
      );
  }
}

function ScreenReaderText({ children }: { readonly children: ReactNode }) {
  return <span className={`visually-hidden ${classes.said}`}>{children}</span>;
}

/** Left and Right move between wrong words. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const { key, currentTarget, target } = event;
  const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return;
  const words = [...currentTarget.querySelectorAll<HTMLElement>(`.${classes.wrong}`)];
  const at = words.indexOf(target as HTMLElement);
  const next = at < 0 ? undefined : words[at + step];
  if (next === undefined) return;
  // The same keys move the screen or scroll what is around the words.
  event.preventDefault();
  event.stopPropagation();
  next.focus();
}

export interface LegendProps {
  readonly hidden: ReadonlySet<WordKind>;
  readonly onChange: (hidden: ReadonlySet<WordKind>) => void;
  /** If given, each kind shows its number of words. */
  readonly words?: readonly AlignedWord[];
}

const meanings: Readonly<Record<WordKind, string>> = {
  match: 'Correct words, in the colour of their strand',
  wrong: 'A different word; the expected one is shown above it',
  missing: 'Words of the target that are missing',
  extra: 'Words that are not in the target',
};

/** The legend; each entry toggles the highlighting of its kind. */
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
        <ScreenReaderText> strand A is teal, strand B is amber</ScreenReaderText>
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
