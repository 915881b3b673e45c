/**
 * Dataset files, read a page at a time: a dataset may be larger than memory allows, so only its line offsets are kept.
 * An invalid line is shown as such; only training requires every line to be valid.
 */

import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { inputError } from '../../errors.ts';
import { parseJsonExactly } from '../../io/json.ts';
import { type InterleaveRecord, parseInterleaveRecord } from '../../tasks/interleave/record.ts';
import { folded } from '../../text/folded.ts';

/** One line of a dataset. */
export type RecordView =
  | { readonly kind: 'interleave'; readonly line: number; readonly record: InterleaveRecord }
  /** A record of another task: its fields, as JSON. */
  | { readonly kind: 'other'; readonly line: number; readonly json: string }
  | { readonly kind: 'fault'; readonly line: number; readonly reason: string };

export interface RecordPage {
  readonly records: readonly RecordView[];
  /** Number of records, or of search results. */
  readonly total: number;
}

export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
  readonly search?: string | undefined;
}

export interface RecordFiles {
  page(file: string, request: PageRequest, signal?: AbortSignal): Promise<RecordPage>;
}

/** A line that isn't empty: its number from 1, where it starts and ends. */
interface Line {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

interface Indexed {
  /** Size and time of the file: if they change, the index is rebuilt. */
  readonly version: string;
  readonly lines: readonly Line[];
  readonly searches: Map<string, readonly Line[]>;
}

const FILES_KEPT = 6;
const SEARCHES_KEPT = 8;
const LONGEST_OTHER = 20_000;
/** A page shows a few dozen lines at a time; the longest stage's records have 20,000 bytes. */
const LONGEST_LINE = 1_000_000;
/** Bytes that are searched at once: a few milliseconds, in which the app does nothing else. */
const BLOCK = 2 ** 18;

/** Opens the reader, which caches the indexes of recently read files. */
export function openRecordFiles(): RecordFiles {
  const kept = new Map<string, Indexed>();

  async function indexed(file: string, signal: AbortSignal | undefined): Promise<Indexed> {
    const found = await stat(file).catch(() => {
      throw inputError(
        'DATASET_MISSING',
        `${file}: expected a dataset, but the file doesn't exist`,
        'Generate the dataset again.',
      );
    });
    if (!found.isFile()) throw inputError('DATASET_MISSING', `${file}: expected a dataset, got no regular file`);
    const { size, mtimeMs } = found;
    const version = `${size}:${mtimeMs}`;
    const known = kept.get(file);
    if (known?.version === version) return known;
    const fresh = { version, lines: await linesOf(file, signal), searches: new Map() };
    kept.set(file, fresh);
    for (const old of [...kept.keys()].slice(0, -FILES_KEPT)) kept.delete(old);
    return fresh;
  }

  return {
    page: async (file, { offset, limit, search = '' }, signal) => {
      const index = await indexed(file, signal);
      const wanted = folded(search.trim());
      const lines = wanted === '' ? index.lines : await matching(file, index, wanted, signal);
      return { records: await viewsOf(file, lines.slice(offset, offset + limit)), total: lines.length };
    },
  };
}

async function linesOf(file: string, signal: AbortSignal | undefined): Promise<Line[]> {
  const lines: Line[] = [];
  let [number, start, at, blank] = [1, 0, 0, true];
  const end = (stop: number): void => {
    if (!blank) lines.push({ number, start, end: stop });
    number++;
    start = stop + 1;
    blank = true;
  };
  for await (const chunk of createReadStream(file, { signal })) {
    const bytes: Buffer = chunk;
    for (const byte of bytes) {
      if (byte === 0x0a) end(at);
      else if (byte > 0x20) blank = false;
      at++;
    }
  }
  if (start < at) end(at);
  return lines;
}

async function matching(file: string, index: Indexed, wanted: string, signal: AbortSignal | undefined) {
  const known = index.searches.get(wanted);
  if (known !== undefined) return known;
  const found: Line[] = [];
  const handle = await open(file);
  try {
    const read = index.lines.filter(({ start, end }) => end - start <= LONGEST_LINE);
    for await (const block of blocksOf(handle, read)) {
      signal?.throwIfAborted();
      for (const { line, text } of block) if (holds(text, wanted)) found.push(line);
    }
  } finally {
    await handle.close();
  }
  index.searches.set(wanted, found);
  for (const old of [...index.searches.keys()].slice(0, -SEARCHES_KEPT)) index.searches.delete(old);
  return found;
}

type Handle = Awaited<ReturnType<typeof open>>;

/** Lines with their texts, many at once: a read for each takes nearly all of the time. */
async function* blocksOf(handle: Handle, lines: readonly Line[]) {
  let block: Line[] = [];
  for (const line of lines) {
    if (line.end - (block[0] ?? line).start > BLOCK) {
      yield await textsOf(handle, block);
      block = [];
    }
    block.push(line);
  }
  yield await textsOf(handle, block);
}

async function textsOf(handle: Handle, block: readonly Line[]) {
  const from = block[0]?.start ?? 0;
  const size = (block.at(-1)?.end ?? 0) - from;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, from);
  const bytes = buffer.subarray(0, bytesRead);
  return block.map((line) => ({ line, text: bytes.toString('utf8', line.start - from, line.end - from) }));
}

async function textOf(handle: Handle, { start, end }: Line): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
  return buffer.toString('utf8', 0, bytesRead);
}

/** Whether a record contains the search text; the prompt is skipped, as it repeats the fragments among words common to all. */
function holds(json: string, wanted: string): boolean {
  try {
    const value: unknown = parseJsonExactly(json);
    const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [['', value] as const];
    const own = fields.length > 1 ? fields.filter(([name]) => name !== 'prompt') : fields;
    return own.some(([, field]) => folded(plain(field)).includes(wanted));
  } catch {
    return folded(json).includes(wanted);
  }
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function viewsOf(file: string, lines: readonly Line[]): Promise<RecordView[]> {
  const handle = await open(file);
  try {
    const views: RecordView[] = [];
    for (const line of lines) {
      const bytes = line.end - line.start;
      const reason = `expected at most ${LONGEST_LINE} bytes on a line, got ${bytes}`;
      if (bytes > LONGEST_LINE) views.push({ kind: 'fault', line: line.number, reason });
      else views.push(viewOf(await textOf(handle, line), line.number));
    }
    return views;
  } finally {
    await handle.close();
  }
}

/** A record with fragments is an interleave record; then all of it must be valid. */
function viewOf(json: string, line: number): RecordView {
  try {
    const value: unknown = parseJsonExactly(json);
    if (typeof value === 'object' && value !== null && !('fragment_a' in value))
      return { kind: 'other', line, json: JSON.stringify(value, null, 2).slice(0, LONGEST_OTHER) };
    return { kind: 'interleave', line, record: parseInterleaveRecord(value) };
  } catch (error) {
    return { kind: 'fault', line, reason: error instanceof Error ? error.message : String(error) };
  }
}
