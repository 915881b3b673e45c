/** Merging texts into a corpus: each text once, in its longest version. */
import { shingleIndex } from '../../text/near-duplicates.ts';
import { type CorpusText, corpusText, freeName, type Side, type SourceText, sideOf } from './source-text.ts';

/** Which of two near duplicates to keep. */
export type Keep = 'earlier' | 'new' | 'both';

/** An incoming text that duplicates an existing one, exactly or nearly. */
export interface Duplicate {
  readonly kind: 'exact' | 'near';
  readonly title: string;
  readonly source: string;
  /** The title of the text that it resembles. */
  readonly resembles: string;
  /** Shared word shingles / those of the shorter text; 1 for an exact duplicate. */
  readonly similarity: number;
  /** Which of the two is kept: a clearly longer near duplicate replaces the existing text, unless the user decides. */
  readonly kept: Keep;
  /** Where the text that it resembles is. */
  readonly place: Place;
}

/** In the corpus by its id, or among the incoming texts by its position. */
export type Place =
  | { readonly kind: 'corpus'; readonly id: string }
  | { readonly kind: 'incoming'; readonly position: number };

/** The result for one incoming text. */
export interface MergeOutcome {
  /** The stored text; null if it was left out, or replaced by an even longer one of the same import. */
  readonly added: CorpusText | null;
  readonly duplicates: readonly Duplicate[];
  /** Texts of the corpus that it replaced. */
  readonly replaced: readonly CorpusText[];
  /** Near duplicates of the corpus that are kept besides it. */
  readonly besides: readonly CorpusText[];
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
  text: CorpusText;
  /** Among the incoming texts; null: of the corpus. */
  readonly position: number | null;
  gone: boolean;
}

export interface MergeOptions {
  readonly onText?: (done: number) => void;
  /** Decides for an incoming text and its near duplicates; undefined: by their lengths. */
  readonly choose?: (position: number, incoming: CorpusText, found: readonly CorpusText[]) => Keep | undefined;
}

/** Adds texts to a corpus, skipping exact duplicates (ignoring case and spacing) and near duplicates. */
export function mergeTexts(
  corpus: readonly CorpusText[],
  incoming: readonly SourceText[],
  { onText = () => undefined, choose = () => undefined }: MergeOptions = {},
): MergeResult {
  const shelf = openShelf();
  for (const text of corpus) shelf.hold(text, null);
  const outcomes = incoming.map((source, i) => {
    const taken = take(corpusText(source), i, shelf, choose);
    onText(i + 1);
    return taken;
  });
  const staying = shelf.holdings.filter((holding) => !holding.gone);
  return {
    texts: staying.map((holding) => holding.text),
    added: staying.filter((holding) => holding.position !== null).map((holding) => holding.text),
    removed: shelf.holdings.filter((holding) => holding.gone && holding.position === null).map(({ text }) => text),
    duplicates: outcomes.flatMap((outcome) => outcome.duplicates),
    outcomes: outcomes.map(({ holding, duplicates, found }) => {
      const added = holding === null || holding.gone ? null : holding.text;
      const ofCorpus = added === null ? [] : found.filter(({ position }) => position === null);
      return {
        added,
        duplicates,
        replaced: ofCorpus.filter(({ gone }) => gone).map(({ text }) => text),
        besides: ofCorpus.filter(({ gone }) => !gone).map(({ text }) => text),
      };
    }),
  };
}

interface Taken {
  readonly holding: Holding | null;
  readonly duplicates: readonly Duplicate[];
  readonly found: readonly Holding[];
}

function take(
  candidate: CorpusText,
  position: number,
  shelf: Shelf,
  choose: NonNullable<MergeOptions['choose']>,
): Taken {
  const similar = shelf.resembling(candidate);
  const found = similar.map(({ holding }) => holding);
  const choice = () =>
    choose(
      position,
      candidate,
      found.map(({ text }) => text),
    );
  const isFuller = found.every(({ text }) => candidate.words >= text.words * FULLER);
  const isExact = similar.some(({ kind }) => kind === 'exact');
  const kept = isExact ? 'earlier' : (choice() ?? (isFuller ? 'new' : 'earlier'));
  const { title, source } = candidate;
  const duplicates = similar.map(
    ({ holding, similarity, kind }): Duplicate => ({
      kind,
      title,
      source,
      resembles: holding.text.title,
      similarity,
      kept,
      place:
        holding.position === null
          ? { kind: 'corpus', id: holding.text.id }
          : { kind: 'incoming', position: holding.position },
    }),
  );
  if (found.length > 0 && kept === 'earlier') return { holding: null, duplicates: duplicates.slice(0, 1), found: [] };
  // One that was trained on, or that replaces or repeats such a text, can't be held out.
  let side = sideOf([candidate, ...found.map(({ text }) => text)]);
  if (found.length > 0 && kept === 'both') side = keepTogether(found, side);
  else for (const holding of found) shelf.drop(holding);
  return { holding: shelf.hold({ ...shelf.named(candidate), ...(side && { side }) }, position), duplicates, found };
}

/**
 * Puts texts that nearly repeat each other on one side: for training unless a side is decided, because the split
 * would put them on both.
 */
function keepTogether(found: readonly Holding[], decided: Side | undefined): Side {
  const side = decided ?? 'train';
  for (const holding of found) holding.text = { side, ...holding.text };
  return side;
}

interface Found {
  readonly holding: Holding;
  readonly similarity: number;
  readonly kind: 'exact' | 'near';
}

/** The texts so far, indexed by content and by name. */
interface Shelf {
  readonly holdings: readonly Holding[];
  hold(text: CorpusText, position: number | null): Holding;
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
    hold: (text, position) => {
      const holding = { text, position, gone: false };
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
