import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { corpusStats } from '../../../main/services/datasets/corpus-stats.ts';
import { bundledTextFiles } from '../../../main/services/texts/bundled.ts';
import { readCorpus, readTexts } from '../../../main/services/texts/index.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { madeTexts } from './made-texts.ts';

const bundledFiles = bundledTextFiles(join(import.meta.dirname, '../../../datasets'));
const folder = temporaryFolderOfFile();

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('readTexts', () => {
  it('reads several files', () => {
    const files = [file('a.json', '["one", "two"]'), file('b.txt', 'three')];
    expect(readTexts(files).map((text) => text.text)).toEqual(['one', 'two', 'three']);
  });

  it('takes all or nothing, and names every fault of every file', () => {
    const good = file('good.json', '["one"]');
    const broken = file('broken.json', '["one",\n\n');
    const binary = file('binary.txt', Uint8Array.of(0x61, 0x0a, 0xff));
    expect(() => readTexts([good, broken, binary, join(folder, 'none.md')])).toThrow(
      [
        `${broken}, line 3: not JSON: expected a value, got the end of the file`,
        `${binary}, line 2: expected UTF-8 text, got invalid bytes; save it as UTF-8`,
        `${join(folder, 'none.md')}: the file does not exist`,
      ].join('\n'),
    );
  });
});

describe('readCorpus', () => {
  it('has each text once', () => {
    expect(readCorpus([file('a.json', '["one two three", "One two  three"]')])).toHaveLength(1);
  });
});

describe('corpusStats', () => {
  it('counts words and says how many texts are long enough for each stage', () => {
    const stats = corpusStats(madeTexts(15, 30, 30, 60, 60, 120), { stages: [10, 50, 100], train: 10, test: 2 });
    expect(stats).toMatchObject({ texts: 6, words: 315, shortest: 15, median: 45, longest: 120 });
    expect(stats.stages.map((stage) => [stage.words, stage.texts, stage.missing_texts, stage.missing_words])).toEqual([
      [10, 6, 0, 0],
      [50, 3, 1, 20],
      [100, 1, 3, 40 + 40 + 70],
    ]);
    expect(stats.stages.map((stage) => stage.shortage === null)).toEqual([true, false, false]);
  });

  it('of nothing is zeros and shortages', () => {
    const stats = corpusStats([]);
    expect(stats).toMatchObject({ texts: 0, words: 0, shortest: 0, median: 0, longest: 0 });
    expect(stats.stages.map((stage) => stage.words)).toEqual([10, 25, 50, 100, 200, 500]);
    expect(stats.stages[5]).toMatchObject({ missing_texts: 4, missing_words: 2000 });
  });
});

describe.skipIf(!bundledFiles.every((path) => existsSync(path)))('the bundled texts', () => {
  const texts = readCorpus(bundledFiles);

  it('are all different, and suffice for the whole curriculum', () => {
    expect(texts).toHaveLength(readTexts(bundledFiles).length);
    expect(texts.length).toBeGreaterThanOrEqual(56);
    expect(corpusStats(texts).stages.map((stage) => stage.shortage)).toEqual(Array(6).fill(null));
  });
});
