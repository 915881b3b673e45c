/** Merging texts into a corpus: each text once, in its longest version. */
import { type ShingleIndex, shingleIndex } from '../../text/near-duplicates.ts';
import { type CorpusText, corpusText, freeName, type SourceText } from './source-text.ts';

/** A text that was there already, more or less. */
export interface Duplicate {
  readonly kind: 'exact' | 'near';
  readonly title: string;
  readonly source: string;
  /** The title of the text that it resembles. */
  readonly resembles: string;
  /** Shared word shingles / those of the shorter text; 1 for an exact duplicate. */
  readonly similarity: number;
  /** Which of the two stays: a near duplicate that is clearly longer replaces what it resembles. */
  readonly kept: 'earlier' | 'new';
}

/** The corpus after a merge, and what changed. */
export interface MergeResult {
  readonly texts: readonly CorpusText[];
  readonly added: readonly CorpusText[];
  /** Texts of the corpus that a longer version replaced. */
  readonly removed: readonly CorpusText[];
  readonly duplicates: readonly Duplicate[];
}

/** How much longer a near duplicate must be to count as the fuller version of a text. */
const FULLER = 1.1;

interface Holding {
  readonly text: CorpusText;
  readonly isNew: boolean;
  gone: boolean;
}

/** Adds texts to a corpus without exact duplicates (case and spacing aside) and near duplicates. */
export function mergeTexts(corpus: readonly CorpusText[], incoming: readonly SourceText[]): MergeResult {
  const holdings: Holding[] = [];
  const index = shingleIndex();
  const duplicates: Duplicate[] = [];
  const hold = (text: CorpusText, isNew: boolean): void => {
    holdings.push({ text, isNew, gone: false });
    index.add(text.text);
  };
  for (const text of corpus) hold(text, false);
  for (const candidate of incoming.map(corpusText)) {
    const found = resembling(candidate, holdings, index);
    const kept = found.every(({ holding }) => candidate.words >= holding.text.words * FULLER) ? 'new' : 'earlier';
    for (const { holding, similarity, kind } of found) {
      if (kept === 'new') holding.gone = true;
      const { title, source } = candidate;
      duplicates.push({ kind, title, source, resembles: holding.text.title, similarity, kept });
      if (kept === 'earlier') break;
    }
    if (kept === 'new') hold(named(candidate, holdings), true);
  }
  const staying = holdings.filter((holding) => !holding.gone);
  return {
    texts: staying.map((holding) => holding.text),
    added: staying.filter((holding) => holding.isNew).map((holding) => holding.text),
    removed: holdings.filter((holding) => holding.gone && !holding.isNew).map((holding) => holding.text),
    duplicates,
  };
}

interface Found {
  readonly holding: Holding;
  readonly similarity: number;
  readonly kind: 'exact' | 'near';
}

function resembling(candidate: CorpusText, holdings: readonly Holding[], index: ShingleIndex): Found[] {
  const same = holdings.find((holding) => !holding.gone && holding.text.hash === candidate.hash);
  if (same !== undefined) return [{ holding: same, similarity: 1, kind: 'exact' }];
  return index.nearDuplicates(candidate.text).flatMap(({ index: at, containment }): Found[] => {
    const holding = holdings[at];
    if (holding === undefined || holding.gone) return [];
    return [{ holding, similarity: containment, kind: 'near' }];
  });
}

/** Ids and titles tell texts apart in records and reports, so each is made unique. */
function named(text: CorpusText, holdings: readonly Holding[]): CorpusText {
  const staying = holdings.filter((holding) => !holding.gone);
  const ids = new Set(staying.map((holding) => holding.text.id));
  const titles = new Set(staying.map((holding) => holding.text.title));
  return {
    ...text,
    id: freeName(text.id, ids, (n) => `${text.id}-${n}`),
    title: freeName(text.title, titles, (n) => `${text.title} (${n})`),
  };
}
