/**
 * Datasets of the Hugging Face Hub: the files of one config and split. Without a revision they are the parquet files
 * that the Hub makes of every dataset; with one, the repository's own. A failed download resumes where it stopped.
 */
import { mkdirSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import type { ListFileEntry } from '@huggingface/hub';
import { BraidError } from '../../errors.ts';
import { foreignParts, nameFault } from '../../io/foreign-name.ts';
import { checkSpace } from '../models/check-space.ts';
import type { HubOptions } from '../models/hub-access.ts';
import { hubError } from '../models/hub-errors.ts';
import { clearPlace, fetchHubFile } from '../models/hub-file.ts';
import type { JobContext } from '../workspace/jobs.ts';
import { DATASET_ELSEWHERE, type HubDataset } from './hub-name.ts';
import { filesOf } from './split-files.ts';

/** The Hub's branch of parquet files, `config/split/0000.parquet`. */
const CONVERTED = 'refs/convert/parquet';

/** Downloads the files of a split, unless they lie there unchanged, into a folder of one that has downloads only. Returns their paths, in order. */
export async function fetchHubDataset(
  dataset: HubDataset,
  split: string,
  folder: string,
  options: HubOptions,
  { signal, progress }: JobContext,
): Promise<string[]> {
  const revision = dataset.revision ?? CONVERTED;
  try {
    // Loaded on demand: most sessions download nothing.
    const { downloadFile, listFiles } = await import('@huggingface/hub');
    const access = {
      repo: { type: 'dataset', name: dataset.repo } as const,
      revision,
      fetch: ((input, init) => fetch(input, { ...init, signal })) as typeof fetch,
      ...(options.hubUrl !== undefined && { hubUrl: options.hubUrl }),
      ...(options.accessToken !== undefined && { accessToken: options.accessToken }),
    };
    const files: ListFileEntry[] = [];
    for await (const file of listFiles({ ...access, recursive: true })) if (file.type === 'file') files.push(file);
    const wanted = filesOf(files, dataset, split);
    const total = wanted.reduce((sum, { size }) => sum + size, 0);
    for (const part of [dirname(folder), folder]) await clearPlace(part, 'folder');
    mkdirSync(folder, { recursive: true });
    checkSpace(folder, total, dataset.repo);
    let done = 0;
    const onBytes = (count: number): void => {
      done += count;
      progress({ done: Math.round(done / 2 ** 20), total: Math.ceil(total / 2 ** 20), unit: 'MiB' });
    };
    const places: string[] = [];
    const names = flatNames(wanted, dataset.repo);
    for (const [i, file] of wanted.entries()) {
      const place = join(folder, names[i] ?? '');
      places.push(place);
      const download = () => downloadFile({ ...access, path: file.path });
      await fetchHubFile(file, place, { download, what: 'import', signal, onBytes });
    }
    return places;
  } catch (error) {
    if (signal.aborted)
      throw new BraidError('INTERRUPTED', 'Interrupted; what was downloaded is kept for the next time.');
    throw hubError(error, { repo: dataset.repo, revision }, options, DATASET_ELSEWHERE);
  }
}

/** A name for each file in one folder; on some systems capitals make no difference. */
export function flatNames(files: readonly { readonly path: string }[], repo: string): readonly string[] {
  const taken = new Set<string>();
  return files.map(({ path }, i) => {
    const flat = foreignParts(path, repo).join('__');
    const name = taken.has(flat.toLowerCase()) || nameFault(flat) !== null ? `${i}${extname(path)}` : flat;
    taken.add(name.toLowerCase());
    return name;
  });
}
