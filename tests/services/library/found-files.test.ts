import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { foundFiles, takeIn } from '../../../main/services/library/found-files.ts';
import { makeDatasets } from '../../../main/services/library/make-datasets.ts';
import { writeTinyDataset } from '../../tiny-dataset.ts';
import { fileOf, temporaryLibrary } from './temporary-library.ts';

const recipe = { train: 8, test: 4, seed: 42, template: { name: 'process', version: 1 }, replace: false };
const reply = (id: string) =>
  `${JSON.stringify({ id, post: 'a post', reply: 'a reply', engagement: { likes: 1, reposts: 0, replies: 0 } })}\n`;

describe('foundFiles and takeIn', () => {
  it('list files that are not in the history, and add them with their facts', async () => {
    const library = temporaryLibrary();
    library.addTexts(40, 40, 40, 40, 40, 40);
    await makeDatasets(library, { ...recipe, stages: [10] });
    expect(foundFiles(library)).toEqual([]);
    writeTinyDataset(fileOf(library, 'brought.jsonl'));
    writeFileSync(fileOf(library, 'answers.jsonl'), reply('r1') + reply('r2'));
    expect(foundFiles(library).map(({ name }) => name)).toEqual(['answers', 'brought']);
    const [brought, answers] = [await takeIn(library, 'brought'), await takeIn(library, 'answers')];
    expect(foundFiles(library)).toEqual([]);
    expect(library.store.datasets.get(brought)).toMatchObject({
      name: 'brought',
      task: 'interleave',
      words: 2,
      trainN: 12,
      testN: 4,
      template: null,
    });
    expect(library.store.datasets.get(answers)).toMatchObject({ task: 'reply', words: null, trainN: 2, testN: 0 });
    expect(library.told).toContain('datasets');
  });

  it('add nothing if a line is invalid, and say which', async () => {
    const library = temporaryLibrary();
    writeFileSync(join(library.workspace.datasets, 'bad.jsonl'), `${reply('r1')}{"id":"r2","post":3}\n`);
    await expect(takeIn(library, 'bad')).rejects.toMatchObject({
      message: expect.stringContaining('bad.jsonl, line 2'),
    });
    expect(library.store.datasets.list()).toEqual([]);
    await expect(takeIn(library, 'none')).rejects.toMatchObject({ code: 'DATASET_UNKNOWN' });
  });
});
