/** Merging texts into a corpus: each text once, in its longest version. */
import { shingleIndex } from '../../text/near-duplicates.ts';
import { type CorpusText, corpusText, freeName, type SourceText, sideOf } from './source-text.ts';

/** An incoming text that duplicates an existing one, exactly or nearly. */
export interface Duplicate {
  readonly kind: 'exact' | 'near';
  readonly title: string;
  readonly source: string;
  /** The title of the text that it resembles. */
  readonly resembles: string;
  /** Shared word shingles / those of the shorter text; 1 for an exact duplicate. */
  readonly similarity: number;
  /** Which of the two is kept: a clearly longer near duplicate replaces the existing text. */
  readonly kept: 'earlier' | 'new';
}

/** The result for one incoming text. */
export interface MergeOutcome {
  /** The stored text; null if it was left out, or replaced by an even longer one of the same import. */
  readonly added: CorpusText | null;
  readonly duplicates: readonly Duplicate[];
}

/** The corpus after a merge, and the changes. */
export interface MergeResult {
  readonly texts: readonly CorpusText[];
  readonly added: readonly CorpusText[];
  /** Texts of the corpus that a longer version replaced. */
  readonly removed: readonly CorpusText[];
  readonly duplicates: readonly Duplicate[];
  /** One for each incoming text, in order. */
  readonly outcomes: readonly MergeOutcome[];
}

/** How much longer a near duplicate must be to count as the fuller version of a text. */
const FULLER = 1.1;

interface Holding {
  readonly text: CorpusText;
  readonly isNew: boolean;
  gone: boolean;
}

/** Adds texts to a corpus, skipping exact duplicates (ignoring case and spacing) and near duplicates. */
export function mergeTexts(
  corpus: readonly CorpusText[],
  incoming: readonly SourceText[],
  onText: (done: number) => void = () => undefined,
): MergeResult {
  const shelf = openShelf();
  for (const text of corpus) shelf.hold(text, false);
  const outcomes = incoming.map((source, i) => {
    const taken = take(corpusText(source), shelf);
    onText(i + 1);
    return taken;
  });
  const staying = shelf.holdings.filter((holding) => !holding.gone);
  return {
    texts: staying.map((holding) => holding.text),
    added: staying.filter((holding) => holding.isNew).map((holding) => holding.text),
    removed: shelf.holdings.filter((holding) => holding.gone && !holding.isNew).map((holding) => holding.text),
    duplicates: outcomes.flatMap((outcome) => outcome.duplicates),
    outcomes: outcomes.map(({ holding, duplicates }) => ({
      added: holding === null || holding.gone ? null : holding.text,
      duplicates,
    })),
  };
}

interface Taken {
  readonly holding: Holding | null;
  readonly duplicates: readonly Duplicate[];
}

function take(candidate: CorpusText, shelf: Shelf): Taken {
  const found = shelf.resembling(candidate);
  const kept = found.every(({ holding }) => candidate.words >= holding.text.words * FULLER) ? 'new' : 'earlier';
  const { title, source } = candidate;
  const duplicates = found.map(
    ({ holding, similarity, kind }): Duplicate => ({
      ...{ kind, title, source },
      ...{ resembles: holding.text.title, similarity, kept },
    }),
  );
  if (kept === 'earlier') return { holding: null, duplicates: duplicates.slice(0, 1) };
  for (const { holding } of found) shelf.drop(holding);
  const side = candidate.side ?? sideOf(found.map(({ holding }) => holding.text));
  return { holding: shelf.hold({ ...shelf.named(candidate), ...(side && { side }) }, true), duplicates };
}

interface Found {
  readonly holding: Holding;
  readonly similarity: number;
  readonly kind: 'exact' | 'near';
}

/** The texts so far, indexed by content and by name. */
interface Shelf {
  readonly holdings: readonly Holding[];
  hold(text: CorpusText, isNew: boolean): Holding;
  drop(holding: Holding): void;
  resembling(candidate: CorpusText): Found[];
  /** Ids and titles identify texts in records and reports, so they are made unique. */
  named(text: CorpusText): CorpusText;
}

function openShelf(): Shelf {
  const holdings: Holding[] = [];
  const index = shingleIndex();
  const byHash = new Map<string, Holding>();
  const ids = new Set<string>();
  const titles = new Set<string>();
  return {
    holdings,
    hold: (text, isNew) => {
      const holding = { text, isNew, gone: false };
      holdings.push(holding);
      index.add(text.text);
      byHash.set(text.hash, holding);
      ids.add(text.id);
      titles.add(text.title);
      return holding;
    },
    drop: (holding) => {
      holding.gone = true;
      byHash.delete(holding.text.hash);
      ids.delete(holding.text.id);
      titles.delete(holding.text.title);
    },
    resembling: (candidate) => {
      const same = byHash.get(candidate.hash);
      if (same !== undefined) return [{ holding: same, similarity: 1, kind: 'exact' }];
      return index.nearDuplicates(candidate.text).flatMap(({ index: at, containment }): Found[] => {
        const holding = holdings[at];
        if (holding === undefined || holding.gone) return [];
        return [{ holding, similarity: containment, kind: 'near' }];
      });
    },
    named: (text) => ({
      ...text,
      id: freeName(text.id, ids, (n) => `${text.id}-${n}`),
      title: freeName(text.title, titles, (n) => `${text.title} (${n})`),
    }),
  };
}
