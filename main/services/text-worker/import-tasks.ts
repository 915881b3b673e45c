/** Reads what the user dropped, chose or pasted, and computes what it would change. */

import { type Checked, decodeText, type FileFault, readTextFile } from '../../io/text-file.ts';
import { type CorpusChange, changeOf, type StageChange, stageChanges } from '../datasets/corpus-change.ts';
import { guessedName } from '../texts/guess-format.ts';
import { type MergeOutcome, mergeTexts } from '../texts/merge.ts';
import { parseTexts } from '../texts/parse.ts';
import { type CorpusText, corpusText, type SourceText } from '../texts/source-text.ts';
import type { TaskContext } from './messages.ts';

/** A file by its content (dropped or pasted) or by its path. */
export type ImportSource =
  | { readonly name: string; readonly bytes: Uint8Array }
  | { readonly name: string; readonly path: string };

export interface ReadImportInput {
  readonly corpus: readonly SourceText[];
  readonly files: readonly ImportSource[];
  readonly minWords?: number | undefined;
}

/** A file of an import: one with an error is skipped completely. */
export interface ImportedFile {
  readonly name: string;
  /** Texts found in it, imported or not. */
  readonly texts: number;
  /** The first of them. */
  readonly faults: readonly FileFault[];
  readonly faultCount: number;
}

/** A text as it would be imported. */
export interface IncomingText {
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
  readonly texts: readonly IncomingText[];
  readonly stages: readonly StageChange[];
  /** The texts themselves, for the merge. */
  readonly sources: readonly SourceText[];
}

const MAX_FAULTS = 100;
const BEGINNING = 160;

/** Parses every file and merges on a trial basis. */
export function readImport({ corpus, files, minWords }: ReadImportInput, context: TaskContext): ReadImport {
  const parsed = files.map((file) => parseSource(file, minWords));
  const sources = parsed.flatMap(({ texts }) => texts);
  const before = corpus.map(corpusText);
  const merged = mergeTexts(before, sources, (done) =>
    context.progress({ done, total: sources.length, unit: 'texts' }),
  );
  return {
    files: parsed.map(({ file }) => file),
    texts: sources.map((source, i) => incoming(source, merged.outcomes[i])),
    stages: stageChanges(before, merged.texts),
    sources,
  };
}

function parseSource(source: ImportSource, minWords: number | undefined) {
  const decoded = decode(source);
  if (decoded.kind === 'bad') {
    return { texts: [], file: { name: source.name, texts: 0, faults: [decoded.fault], faultCount: 1 } };
  }
  const name = guessedName(source.name, decoded.value);
  const { texts, faults } = parseTexts(name, decoded.value, minWords === undefined ? {} : { minWords });
  const file = { name, texts: texts.length, faults: faults.slice(0, MAX_FAULTS), faultCount: faults.length };
  return { texts: faults.length === 0 ? texts : [], file };
}

function decode(source: ImportSource): Checked<string> {
  if ('bytes' in source) return decodeText(source.name, source.bytes);
  const read = readTextFile(source.path);
  return read.kind === 'good' ? read : { kind: 'bad', fault: { ...read.fault, file: source.name } };
}

function incoming({ title, source, text }: SourceText, outcome: MergeOutcome | undefined): IncomingText {
  const { added = null, duplicates = [] } = outcome ?? {};
  const resembles = duplicates.map(({ resembles, kind, similarity }) => ({ title: resembles, kind, similarity }));
  const fate = added === null ? 'left-out' : duplicates.length > 0 ? 'replaces' : 'new';
  const words = added?.words ?? corpusText({ id: '', title, source, text }).words;
  const beginning = text.slice(0, BEGINNING).replace(/\s+/gu, ' ').trim();
  return { title: added?.title ?? title, source, words, beginning, fate, resembles };
}

export interface MergeImportInput {
  readonly corpus: readonly SourceText[];
  readonly incoming: readonly SourceText[];
}

/** The change that an import makes, and its summary. */
export interface MergedImport {
  readonly change: CorpusChange;
  readonly removed: readonly string[];
  readonly leftOut: number;
}

/** Computes the change that adds texts to the corpus. */
export function mergeImport({ corpus, incoming: texts }: MergeImportInput, context: TaskContext): MergedImport {
  const before: readonly CorpusText[] = corpus.map(corpusText);
  const merged = mergeTexts(before, texts, (done) => context.progress({ done, total: texts.length, unit: 'texts' }));
  return {
    change: changeOf(
      merged.added,
      merged.removed.map(({ id }) => id),
    ),
    removed: merged.removed.map(({ title }) => title),
    leftOut: texts.length - merged.added.length,
  };
}
