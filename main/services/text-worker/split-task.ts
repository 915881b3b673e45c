/** Splits a manuscript of the corpus at its headings. */

import { inputError } from '../../errors.ts';
import { beginning } from '../../text/beginning.ts';
import { type StageChange, stageChanges } from '../datasets/stage-changes.ts';
import { type CorpusChange, changeOf } from '../texts/corpus-change.ts';
import { countHeadings, fittingRule, type HeadingRule, pieceTitle, splitAtHeadings } from '../texts/headings.ts';
import { type Duplicate, mergeTexts } from '../texts/merge.ts';
import { type CorpusText, corpusText, type SourceText } from '../texts/source-text.ts';

export interface SplitInput {
  readonly corpus: readonly SourceText[];
  readonly id: number;
  /** null: the first one by which it has several headings. */
  readonly rule: HeadingRule | null;
  /** Shorter pieces are added to their neighbours. */
  readonly minWords: number;
}

/** Preview of one piece. */
export interface SplitPiece {
  readonly title: string;
  readonly words: number;
  /** Its first words. */
  readonly beginning: string;
  /** What it resembles other than the text that is split; if it is left out, that one has its words. */
  readonly duplicates: readonly Duplicate[];
  readonly leftOut: boolean;
}

export interface SplitPlan {
  /** The rule that was used; null: no rule fits, and there is one piece. */
  readonly rule: HeadingRule | null;
  /** Headings by each rule. */
  readonly headings: Readonly<Record<HeadingRule, number>>;
  readonly pieces: readonly SplitPiece[];
  readonly stages: readonly StageChange[];
  readonly change: CorpusChange;
}

const BEGINNING = 120;

/** Computes the result of splitting: the pieces replace the text, are on its side of the split and get its tags. */
export function planSplit({ corpus, id, rule: wanted, minWords }: SplitInput): SplitPlan {
  const before = corpus.map(corpusText);
  const whole = before.find((text) => Number(text.id) === id);
  if (whole === undefined)
    throw inputError('TEXT_UNKNOWN', `There is no text with id ${id}`, 'It may have been removed.');
  const headings = countHeadings(whole.text);
  const rule = wanted ?? fittingRule(whole.text);
  const sources = rule === null ? [] : piecesOf(whole, rule, minWords);
  const rest = before.filter((text) => text !== whole);
  const merged = mergeTexts(rest, sources);
  const pieces = sources.map((source, i): SplitPiece => {
    const { added = null, duplicates = [] } = merged.outcomes[i] ?? {};
    const start = beginning(source.text, BEGINNING).replace(/\s+/gu, ' ').trim();
    const { words } = corpusText(source);
    return { title: added?.title ?? source.title, words, beginning: start, duplicates, leftOut: added === null };
  });
  return {
    rule,
    headings,
    pieces,
    stages: stageChanges(before, sources.length < 2 ? before : merged.texts),
    change: changeOf(merged.added, [...merged.removed, whole], () => ({ from: [id] })),
  };
}

function piecesOf(whole: CorpusText, rule: HeadingRule, minWords: number): SourceText[] {
  return splitAtHeadings(whole.text, rule, minWords).map(({ heading, text }) => ({
    id: 'piece',
    title: pieceTitle(whole.title, heading),
    text,
    source: whole.source,
    ...(whole.side !== undefined && { side: whole.side }),
  }));
}
