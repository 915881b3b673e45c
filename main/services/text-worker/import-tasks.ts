/** Reads what the user dropped, chose or pasted, and computes what it would change. */

import type { Encoding } from '../../io/encodings.ts';
import type { FileFault } from '../../io/text-file.ts';
import { beginning } from '../../text/beginning.ts';
import { type StageChange, stageChanges } from '../datasets/stage-changes.ts';
import { type CorpusChange, changeOf, decidedBeside, originsOf } from '../texts/corpus-change.ts';
import { type Keep, type MergeOutcome, mergeTexts, type Place } from '../texts/merge.ts';
import { type CorpusText, corpusText, type SourceText } from '../texts/source-text.ts';
import { type ImportSource, readSources } from '../texts/sources.ts';
import type { TaskContext } from './messages.ts';

export interface ReadImportInput {
  readonly corpus: readonly SourceText[];
  readonly files: readonly ImportSource[];
  readonly minWords?: number | undefined;
  readonly splitAtHeadings?: boolean | undefined;
}

/** A file of an import. Its good texts can be imported although others of its lines have errors. */
export interface ImportedFile {
  readonly name: string;
  /** Texts found in it, imported or not. */
  readonly texts: number;
  /** null: it couldn't be decoded. */
  readonly encoding: Encoding | null;
  /** The first of them. */
  readonly faults: readonly FileFault[];
  readonly faultCount: number;
}

/** A text as it would be imported. */
export interface IncomingText {
  /** The position of its file. */
  readonly file: number;
  readonly title: string;
  readonly source: string;
  readonly words: number;
  /** Its first words. */
  readonly beginning: string;
  /** new: is added to the corpus; replaces: replaces shorter versions; left-out: already exists. */
  readonly fate: 'new' | 'replaces' | 'left-out';
  readonly resembles: readonly Resembled[];
}

export interface Resembled {
  readonly title: string;
  readonly kind: 'exact' | 'near';
  /** Share of the shorter text's shingles that both have. */
  readonly similarity: number;
}

/** What a file or a paste would change. */
export interface ReadImport {
  readonly files: readonly ImportedFile[];
  /** Files of folders and archives that aren't texts, or that accompany a chat export. */
  readonly skipped: number;
  readonly texts: readonly IncomingText[];
  readonly stages: readonly StageChange[];
  /** The texts themselves, for the merge. */
  readonly sources: readonly SourceText[];
  /** Where the text is that each one resembles first. */
  readonly places: readonly (Place | null)[];
}

const MAX_FAULTS = 100;
const BEGINNING = 160;

/** Parses every file and merges on a trial basis. */
export async function readImport(
  { corpus, files, ...options }: ReadImportInput,
  context: TaskContext,
): Promise<ReadImport> {
  const documents = context.openDocuments();
  const read = await readSources(files, options, documents).finally(documents.close);
  const found = read.files.flatMap(({ texts }, file) => texts.map((source) => ({ file, source })));
  const sources = found.map(({ source }) => source);
  const before = corpus.map(corpusText);
  const merged = mergeTexts(before, sources, {
    onText: (done) => context.progress({ done, total: sources.length, unit: 'texts' }),
  });
  return {
    files: read.files.map(({ name, texts, faults, encoding }) => ({
      name,
      encoding,
      texts: texts.length,
      faults: faults.slice(0, MAX_FAULTS),
      faultCount: faults.length,
    })),
    skipped: read.skipped,
    texts: found.map(({ file, source }, i) => ({ file, ...incoming(source, merged.outcomes[i]) })),
    stages: stageChanges(before, merged.texts),
    sources,
    places: merged.outcomes.map(({ duplicates }) => duplicates[0]?.place ?? null),
  };
}

function incoming(source: SourceText, outcome: MergeOutcome | undefined): Omit<IncomingText, 'file'> {
  const { added = null, duplicates = [] } = outcome ?? {};
  const resembles = duplicates.map(({ resembles, kind, similarity }) => ({ title: resembles, kind, similarity }));
  const fate = added === null ? 'left-out' : duplicates.length > 0 ? 'replaces' : 'new';
  const words = added?.words ?? corpusText(source).words;
  const start = beginning(source.text, BEGINNING).replace(/\s+/gu, ' ').trim();
  return { title: added?.title ?? source.title, source: source.source, words, beginning: start, fate, resembles };
}

export interface MergeImportInput {
  readonly corpus: readonly SourceText[];
  readonly incoming: readonly SourceText[];
  /** What the user decided for near duplicates, by position. */
  readonly keep: readonly { readonly position: number; readonly keep: Keep }[];
}

/** The change that an import makes, and its summary. */
export interface MergedImport {
  readonly change: CorpusChange;
  readonly removed: readonly string[];
  readonly leftOut: number;
}

/** Computes the change that adds texts to the corpus. */
export function mergeImport({ corpus, incoming: texts, keep }: MergeImportInput, context: TaskContext): MergedImport {
  const before: readonly CorpusText[] = corpus.map(corpusText);
  const choices = new Map(keep.map((choice) => [choice.position, choice.keep]));
  const merged = mergeTexts(before, texts, {
    onText: (done) => context.progress({ done, total: texts.length, unit: 'texts' }),
    choose: (position) => choices.get(position),
  });
  return {
    change: {
      ...changeOf(merged.added, merged.removed, originsOf(merged.outcomes)),
      decide: decidedBeside(merged.outcomes),
    },
    removed: merged.removed.map(({ title }) => title),
    leftOut: texts.length - merged.added.length,
  };
}
