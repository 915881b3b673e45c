/** The corpus: importing texts from files, merging them, and saying which stages they can serve. */

import { mergeTexts } from './corpora/merge.ts';
import { type ParseOptions, parseTexts } from './corpora/parse.ts';
import type { CorpusText, SourceText } from './corpora/source-text.ts';
import { type FileFault, faultsError, readTextFile } from './text-file.ts';

export { type Duplicate, type MergeOutcome, type MergeResult, mergeTexts } from './corpora/merge.ts';
export { type ParsedFile, type ParseOptions, parseTexts } from './corpora/parse.ts';
export { type CorpusText, corpusText, type SourceText } from './corpora/source-text.ts';
export { type CorpusStats, corpusStats } from './corpora/stats.ts';
export { importIntoStore, storedTexts } from './corpora/stored.ts';

/** Reads texts from files: all of them, or an error that names every fault. */
export function readTexts(files: readonly string[], options: ParseOptions = {}): SourceText[] {
  const faults: FileFault[] = [];
  const texts: SourceText[] = [];
  for (const file of files) {
    const content = readTextFile(file);
    if (content.kind === 'bad') {
      faults.push(content.fault);
      continue;
    }
    const parsed = parseTexts(file, content.value, options);
    texts.push(...parsed.texts);
    faults.push(...parsed.faults);
  }
  if (faults.length > 0) throw faultsError('BAD_TEXTS', faults, 'Mend these and import again; nothing was imported.');
  return texts;
}

/** The texts of files as a corpus, each once. */
export function readCorpus(files: readonly string[], options: ParseOptions = {}): readonly CorpusText[] {
  return mergeTexts([], readTexts(files, options)).texts;
}
