import { beforeAll, describe, expect, it } from 'vitest';
import { loadTokenizer, type Tokenizer } from '../../../main/model/tokenizer.ts';
import { benchRecords } from '../../../main/trainer/jobs/bench-records.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { writeTinyModel } from '../../tiny-model.ts';

const folder = temporaryFolderOfFile();
let tokenizer: Tokenizer;
beforeAll(async () => {
  await writeTinyModel(folder);
  tokenizer = loadTokenizer(folder);
});

describe('benchRecords', () => {
  it('draws words of one token each, never a special one, between the tags', () => {
    for (const { promptIds, targetIds, record } of benchRecords(tokenizer, 20, 4, 1)) {
      expect([promptIds[0], promptIds[5], promptIds[10]]).toEqual([3, 4, 5]);
      expect(promptIds).toHaveLength(11);
      expect(targetIds).toHaveLength(8);
      expect(targetIds.every((id) => id >= 6)).toBe(true);
      expect(tokenizer.encode(record.prompt)).toEqual(promptIds);
    }
  });

  it('finds words where most ids have none', () => {
    const sparse: Tokenizer = {
      ...tokenizer,
      vocabSize: 8,
      idLimit: 1000,
      decode: ([id = 0]) => (id >= 900 ? 'word' : ''),
    };
    const [record] = benchRecords(sparse, 1, 2, 1);
    expect(record?.targetIds.every((id) => id >= 900)).toBe(true);
  });

  it('draws the same words for the same seed', () => {
    const ids = (seed: number) => benchRecords(tokenizer, 3, 4, seed).map(({ promptIds }) => promptIds);
    expect(ids(5)).toEqual(ids(5));
    expect(ids(5)).not.toEqual(ids(6));
  });
});
