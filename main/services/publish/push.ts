/** Puts planned files into a repository of the Hub. What is there already isn't sent again, so that a push resumes. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { ListFileEntry } from '@huggingface/hub';
import { BraidError, inputError } from '../../errors.ts';
import { type HubOptions, TOKEN_FROM } from '../models/hub-access.ts';
import { hubError, hubStatus } from '../models/hub-errors.ts';
import { inMebibytes } from '../models/import.ts';
import type { JobProgress } from '../trainer-process/job.ts';
import type { PushFile, PushPlan } from './plan.ts';

export interface PushOptions {
  /** A new repository is private otherwise, and one that is public refused. */
  readonly isPublic: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: JobProgress) => void;
}

export interface Pushed {
  readonly url: string;
  readonly sent: readonly string[];
  /** Files that the repository had already. */
  readonly unchanged: readonly string[];
}

/** Larger files have a commit of their own: an interrupted push resumes behind the last of them. Bytes. */
const ALONE = 10 * 2 ** 20;

/** Throws without a token, where the repository is public against the user's word, and as the Hub answers. */
export async function pushToHub(plan: PushPlan, hub: HubOptions, options: PushOptions): Promise<Pushed> {
  const { accessToken, hubUrl = 'https://huggingface.co' } = hub;
  if (accessToken === undefined)
    throw inputError(
      'HUB_TOKEN_MISSING',
      'Expected a token of Hugging Face, there is none',
      'Make one with write access on the Hub, and give it in Settings, by HF_TOKEN or by `hf auth login`.',
    );
  const repo = { type: plan.type, name: plan.repo } as const;
  const access = { repo, accessToken, hubUrl, fetch: aborted(options.signal) };
  try {
    await openRepository(plan, access, options.isPublic);
    const there = await listed(access);
    const states = await Promise.all(plan.files.map(async (file) => isSame(file, there.get(file.path))));
    const wanted = plan.files.filter((_, i) => states[i] !== true);
    await send(wanted, access, options);
    const url = `${hubUrl}/${plan.type === 'dataset' ? 'datasets/' : ''}${plan.repo}`;
    const unchanged = plan.files.filter((file) => !wanted.includes(file));
    return { url, sent: wanted.map(({ path }) => path), unchanged: unchanged.map(({ path }) => path) };
  } catch (error) {
    if (options.signal.aborted)
      throw new BraidError('INTERRUPTED', 'Interrupted; what was sent is kept, and the same push resumes.');
    throw pushError(error, plan, hub);
  }
}

interface Access {
  readonly repo: { readonly type: 'model' | 'dataset'; readonly name: string };
  readonly accessToken: string;
  readonly hubUrl: string;
  readonly fetch: typeof fetch;
}

function aborted(signal: AbortSignal): typeof fetch {
  return (input, init) => fetch(input, { ...init, signal });
}

/** Makes it where there is none. */
async function openRepository({ repo, type }: PushPlan, access: Access, isPublic: boolean): Promise<void> {
  const { createRepo, datasetInfo, modelInfo } = await import('@huggingface/hub');
  const { repo: _, ...how } = access;
  try {
    const asked = { name: repo, ...how };
    const found = type === 'model' ? await modelInfo(asked) : await datasetInfo(asked);
    if (found.private || isPublic) return;
  } catch (error) {
    if (hubStatus(error) !== 404) throw error;
    await createRepo({ ...access, visibility: isPublic ? 'public' : 'private' });
    return;
  }
  throw inputError(
    'HUB_PUBLIC',
    `${repo} is public: everybody could read what is pushed`,
    'Nothing was sent. Say that it is to be public, or choose another name.',
  );
}

async function listed(access: Access): Promise<ReadonlyMap<string, ListFileEntry>> {
  const { listFiles } = await import('@huggingface/hub');
  const found = new Map<string, ListFileEntry>();
  try {
    for await (const file of listFiles({ ...access, recursive: true })) found.set(file.path, file);
  } catch (error) {
    // A repository without a commit has no tree.
    if (hubStatus(error) !== 404) throw error;
  }
  return found;
}

/** Large files are listed with the SHA-256 of their content, others with git's hash of it. */
async function isSame(file: PushFile, there: ListFileEntry | undefined): Promise<boolean> {
  if (there === undefined || there.size !== file.bytes) return false;
  if (there.lfs !== undefined) return (await digest(file, 'sha256')) === there.lfs.oid;
  return (await digest(file, 'sha1', `blob ${file.bytes}\0`)) === there.oid;
}

async function digest({ content }: PushFile, algorithm: 'sha1' | 'sha256', before = ''): Promise<string> {
  const hash = createHash(algorithm).update(before);
  if (Buffer.isBuffer(content)) return hash.update(content).digest('hex');
  for await (const chunk of createReadStream(content.file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Each large file alone, then the small ones together with the card: a card never promises what isn't there. */
async function send(files: readonly PushFile[], access: Access, options: PushOptions): Promise<void> {
  const { uploadFilesWithProgress } = await import('@huggingface/hub');
  const large = files.filter(({ bytes }) => bytes > ALONE);
  const small = files.filter(({ bytes }) => bytes <= ALONE);
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const tell = (part: number): void => options.onProgress(inMebibytes(done + part, total));
  for (const commit of [...large.map((file) => [file]), ...(small.length === 0 ? [] : [small])]) {
    options.signal.throwIfAborted();
    const sending = uploadFilesWithProgress({
      ...access,
      files: commit.map(({ path, content }) => ({ path, content: contentOf(content) })),
      commitTitle: `Add ${commit.length === 1 ? commit[0]?.path : `${commit.length} files`} with Braid`,
      abortSignal: options.signal,
    });
    const size = commit.reduce((sum, { bytes }) => sum + bytes, 0);
    for await (const event of sending)
      if (event.event === 'fileProgress' && event.state === 'uploading' && commit.length === 1)
        tell(event.progress * size);
    done += size;
    tell(0);
  }
}

function contentOf(content: PushFile['content']): Blob | URL {
  return Buffer.isBuffer(content) ? new Blob([new Uint8Array(content)]) : pathToFileURL(content.file);
}

function pushError(error: unknown, { repo }: PushPlan, hub: HubOptions): unknown {
  const status = hubStatus(error);
  if (status !== 401 && status !== 403)
    return hubError(error, { repo, revision: 'main' }, hub, 'copy the files of the dry run there by hand.');
  const token = hub.tokenSource === undefined ? 'the token' : TOKEN_FROM[hub.tokenSource];
  return inputError(
    'HUB_REFUSED',
    `The Hub doesn't let ${token} write to ${repo} (${String(status)})`,
    'Give a token with write access to that owner, in Settings, by HF_TOKEN or by `hf auth login`; or check the name.',
  );
}
