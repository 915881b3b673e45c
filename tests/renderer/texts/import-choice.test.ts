import { describe, expect, it } from 'vitest';
import type { ImportedFile, IncomingText, Keep } from '../../../main/api/contract/index.ts';
import {
  comingCount,
  encodingNotes,
  faultsSummary,
  importLabel,
  keptChoice,
  noChoice,
  summaryOf,
} from '../../../renderer/texts/import-choice.ts';

const text = (fate: IncomingText['fate']): IncomingText => ({
  file: 0,
  title: 't',
  source: 's',
  words: 5,
  beginning: 'b',
  fate,
  resembles: fate === 'new' ? [] : [{ title: 'other', kind: 'near', similarity: 0.9 }],
});
const texts = [text('new'), text('left-out'), text('replaces'), text('left-out')];
const choice = (keep: readonly (readonly [number, Keep])[], without: readonly number[] = []) => ({
  keep: new Map(keep),
  without: new Set(without),
});
const file = (texts: number, faultCount: number, encoding: ImportedFile['encoding'] = 'UTF-8'): ImportedFile => ({
  name: 'f.txt',
  texts,
  faultCount,
  encoding,
  faults: [],
});

describe('comingCount and summaryOf', () => {
  it('count what is imported, by fate and by choice', () => {
    expect(comingCount(texts, noChoice)).toBe(2);
    expect(summaryOf(texts, noChoice)).toBe(
      '4 texts found, 1 new, 1 replacing another version, 2 skipped as duplicates.',
    );
    const decided = choice([
      [1, 'both'],
      [2, 'earlier'],
      [3, 'new'],
    ]);
    expect(comingCount(texts, decided)).toBe(3);
    expect(summaryOf(texts, decided)).toBe(
      '4 texts found, 1 new, 1 replacing another version, 1 kept with a similar text, 1 skipped as a duplicate.',
    );
    expect(comingCount(texts, choice([[1, 'both']], [0, 1]))).toBe(1);
  });
});

describe('keptChoice', () => {
  const named = (beginning: string, other?: string): IncomingText => ({
    ...text(other === undefined ? 'new' : 'replaces'),
    title: `Chat (${beginning})`,
    beginning,
    resembles: other === undefined ? [] : [{ title: other, kind: 'near', similarity: 0.9 }],
  });
  const before = [named('short'), named('same'), named('same'), named('like A', 'A'), named('like B', 'B')];

  it('keeps what was chosen for the texts that are still there', () => {
    const decided = choice([[3, 'both']], [0, 2]);
    expect(keptChoice(decided, before, before.slice(1))).toEqual(choice([[2, 'both']], [1]));
  });

  it('takes no decision about another pair', () => {
    const now = [named('like B', 'C'), named('like A', 'A')];
    const decided = choice([
      [3, 'earlier'],
      [4, 'new'],
    ]);
    expect(keptChoice(decided, before, now)).toEqual(choice([[1, 'earlier']]));
  });
});

describe('importLabel', () => {
  it.each([
    [3, [file(3, 1)], 'Import 3 of 4 texts'],
    [2, [file(3, 1)], 'Import 2 of 4 texts'],
    // A file that can't be read isn't one of its lines.
    [1, [file(1, 0), file(0, 1, null)], 'Import 1 text'],
    [0, [file(0, 5)], 'Nothing to import'],
  ])('%i coming', (coming, files, label) => {
    expect(importLabel(coming, files)).toBe(label);
  });
});

describe('faultsSummary', () => {
  it.each([
    [[file(3, 1)], '1 line has an error. The other lines of those files can be imported.'],
    [
      [file(3, 2), file(0, 1)],
      "2 lines have errors and 1 file can't be read. The other lines of those files can be imported.",
    ],
    [[file(0, 1), file(2, 0)], "1 file can't be read. The other files can be imported."],
    [[file(0, 1), file(0, 1)], "2 files can't be read. Fix them and import again."],
  ])('%#', (files, summary) => {
    expect(faultsSummary(files)).toBe(summary);
  });
});

describe('encodingNotes', () => {
  it('names what is not UTF-8', () => {
    expect(encodingNotes([file(1, 0), file(1, 0, 'Windows-1252')])).toEqual(['f.txt was read as Windows-1252.']);
    expect(encodingNotes([file(1, 0, 'UTF-16'), file(1, 0, 'UTF-16')])).toEqual(['2 files were read as UTF-16.']);
  });
});
