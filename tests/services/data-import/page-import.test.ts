import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { downloadSplit, previewImport, runImport } from '../../../main/services/data-import/page-import.ts';
import { openUploads } from '../../../main/services/data-import/uploads.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { temporaryLibrary } from '../library/temporary-library.ts';
import { openHubDouble } from './hub-double.ts';

it('imports a split of the Hub and deletes its download', async () => {
  const hub = await openHubDouble({
    train: [
      { question: '1 and one', solution: 'It is #### 2' },
      { question: '2 and one', solution: 'It is #### 3' },
    ],
  });
  onTestFinished(hub.close);
  const library = temporaryLibrary();
  const place = { library, uploads: openUploads(), paths: checkoutPaths(resolve(import.meta.dirname, '../../..')) };
  const source = { source: 'hf:made/sums', split: 'train' };
  const uploadId = await downloadSplit(place, source, { hubUrl: hub.url });
  const [file = ''] = place.uploads.get(uploadId);
  expect(existsSync(file)).toBe(true);
  const how = { map: {}, filters: [], sample: null, dedupe: false, splitBy: null, testShare: 0.5, seed: 1 };
  const request = { ...how, uploadId, testUploadId: null, task: 'last-number' };
  const id = await runImport(place, request, { name: 'sums', replace: false });
  expect(library.store.datasets.get(id)).toMatchObject({ name: 'sums', trainN: 1, testN: 1 });
  expect(existsSync(dirname(file))).toBe(false);
});

it('refuses a second import under a name that one is being imported under', async () => {
  const library = temporaryLibrary();
  const uploads = openUploads();
  const place = { library, uploads, paths: checkoutPaths(resolve(import.meta.dirname, '../../..')) };
  const how = { map: {}, filters: [], sample: null, dedupe: false, splitBy: null, testShare: 0.5, seed: 1 };
  const importOf = (answers: readonly number[], replace: boolean) => {
    const file = join(temporaryFolder(), 'sums.jsonl');
    const row = (answer: number): string =>
      `${JSON.stringify({ question: `${answer}`, solution: `#### ${answer}` })}\n`;
    writeFileSync(file, answers.map(row).join(''));
    const request = { ...how, uploadId: uploads.refer([file]), testUploadId: null, task: 'last-number' };
    return runImport(place, request, { name: 'sums', replace });
  };
  const [first, ...others] = await Promise.allSettled([
    importOf([1, 2, 3, 4], false),
    importOf([5, 6], false),
    importOf([7, 8], true),
  ]);
  for (const other of others) expect(other).toMatchObject({ status: 'rejected', reason: { code: 'IMPORT_BUSY' } });
  expect(first).toMatchObject({ status: 'fulfilled' });
  expect(library.store.datasets.list()).toMatchObject([{ name: 'sums', trainN: 2, testN: 2 }]);
  await importOf([5, 6], true);
  expect(library.store.datasets.list()).toMatchObject([{ name: 'sums', trainN: 1, testN: 1 }]);
});

it('names a file that cannot be read as the user does, not by the folder it is kept in', async () => {
  const library = temporaryLibrary();
  const uploads = openUploads();
  onTestFinished(uploads.close);
  const place = { library, uploads, paths: checkoutPaths(resolve(import.meta.dirname, '../../..')) };
  const uploadId = uploads.keep('sums.parquet', new TextEncoder().encode('not parquet'));
  const how = { map: {}, filters: [], sample: null, dedupe: false, splitBy: null, testShare: 0.5, seed: 1 };
  const request = { ...how, uploadId, testUploadId: null, task: 'last-number' };
  const message = expect.not.stringContaining('braid-import-');
  await expect(previewImport(place, request)).rejects.toMatchObject({ message });
  await expect(runImport(place, request, { name: 'sums', replace: false })).rejects.toMatchObject({ message });
  await expect(previewImport(place, request)).rejects.toThrow('sums.parquet');
});
