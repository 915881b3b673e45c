/** One file of the Hugging Face Hub: resumed where it stopped, checked against the Hub's listing. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, lstatSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { ListFileEntry } from '@huggingface/hub';
import { BraidError } from '../../errors.ts';
import { type PouringOptions, pour } from './pour.ts';

export interface HubFileOptions extends Omit<PouringOptions, 'append'> {
  /** Asks the Hub for the file; null: it has none. */
  readonly download: () => Promise<Blob | null>;
  /** What to start again, for the remedy: "download". */
  readonly what: string;
}

/**
 * Makes way for a part of a download. In somebody else's workspace a link may stand in its place, and lead to any file or
 * folder of the user: nothing is written or deleted behind it.
 */
export async function clearPlace(path: string, what: 'file' | 'folder'): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (what === 'file' ? found.isFile() : found.isDirectory())) return;
  await rm(path, { recursive: true, force: true });
}

/** Completes the file at `place`; one that doesn't match the listing is deleted, and an error. */
export async function fetchHubFile(file: ListFileEntry, place: string, options: HubFileOptions): Promise<void> {
  const { download, what, signal, onBytes } = options;
  await clearPlace(place, 'file');
  const have = existsSync(place) ? statSync(place).size : 0;
  onBytes(Math.min(have, file.size));
  // undefined: all of it is there.
  const blob = have < file.size || file.size === 0 ? await download() : undefined;
  if (blob) await pour(blob.slice(have).stream(), place, { signal, onBytes, append: have > 0 });
  if (blob !== null && (await matches(place, file))) return;
  await rm(place, { force: true });
  throw new BraidError('HUB_CHANGED', `${file.path} doesn't match the Hub's listing and was deleted`, {
    remedy: `Start the ${what} again: complete files are kept.`,
  });
}

/** Large files are listed with the SHA-256 of their content, others with git's hash of it. */
async function matches(place: string, { size, lfs, oid }: ListFileEntry): Promise<boolean> {
  if (statSync(place).size !== size) return false;
  if (lfs !== undefined) return (await digest(place, 'sha256')) === lfs.oid;
  return oid === undefined || (await digest(place, 'sha1', `blob ${size}\0`)) === oid;
}

async function digest(file: string, algorithm: 'sha1' | 'sha256', before = ''): Promise<string> {
  const hash = createHash(algorithm).update(before);
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
