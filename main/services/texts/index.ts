/** The corpus: importing texts from files, merging them, and checking which stages they suffice for. */

import { readProse } from '../../io/encodings.ts';
import { type FileFault, faultsError } from '../../io/text-file.ts';
import { append } from '../../lists.ts';
import { mergeTexts } from './merge.ts';
import { OF_RECORDS, parseTexts } from './parse.ts';
import type { CorpusText, SourceText } from './source-text.ts';

export { type Duplicate, type MergeOutcome, type MergeResult, mergeTexts } from './merge.ts';
export type { ParsedFile, ParseOptions } from './parse.ts';
export type { CorpusText, SourceText } from './source-text.ts';
export { importIntoStore, storedTexts } from './stored.ts';

/** Reads texts from files: all of them, or one error that lists every problem. */
export function readTexts(files: readonly string[]): SourceText[] {
  const faults: FileFault[] = [];
  const texts: SourceText[] = [];
  for (const file of files) {
    const content = readProse(file);
    if (content.kind === 'bad') {
      faults.push(content.fault);
      continue;
    }
    const parsed = parseTexts(file, content.value.text);
    append(texts, parsed.texts);
    append(faults, parsed.faults);
  }
  const areRecords = faults.every(({ reason }) => reason.endsWith(OF_RECORDS));
  const code = areRecords ? 'CONVERSATIONS' : 'BAD_TEXTS';
  if (faults.length > 0) throw faultsError(code, faults, 'Nothing was imported. Fix these and import again.');
  return texts;
}

/** The texts of files as a corpus, each once. */
export function readCorpus(files: readonly string[]): readonly CorpusText[] {
  return mergeTexts([], readTexts(files)).texts;
}
