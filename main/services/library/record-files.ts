/**
 * Dataset files, read a page at a time: a dataset may be larger than memory should hold, and its line starts are all
 * that is kept of it. A line that is no record is shown as such; only training insists on every line.
 */
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { inputError } from '../../errors.ts';
import { type InterleaveRecord, parseInterleaveRecord } from '../../tasks/interleave/record.ts';

/** One line of a dataset. */
export type RecordView =
  | { readonly kind: 'interleave'; readonly line: number; readonly record: InterleaveRecord }
  /** A record of another task: its fields, as JSON. */
  | { readonly kind: 'other'; readonly line: number; readonly json: string }
  | { readonly kind: 'fault'; readonly line: number; readonly reason: string };

export interface RecordPage {
  readonly records: readonly RecordView[];
  /** Records of the file, or of it those that the search found. */
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
  /** Size and time of the file: another file asks for another index. */
  readonly version: string;
  readonly lines: readonly Line[];
  readonly searches: Map<string, readonly Line[]>;
}

const FILES_KEPT = 6;
const SEARCHES_KEPT = 8;
const LONGEST_OTHER = 20_000;

/** Opens the reader, with an index kept of the files last read. */
export function openRecordFiles(): RecordFiles {
  const kept = new Map<string, Indexed>();

  async function indexed(file: string, signal: AbortSignal | undefined): Promise<Indexed> {
    const { size, mtimeMs } = await stat(file).catch(() => {
      throw inputError(
        'DATASET_MISSING',
        `${file}: expected a dataset, there is no such file`,
        'Make the dataset anew.',
      );
    });
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
      const wanted = search.trim().toLowerCase();
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
    for (const line of index.lines) {
      signal?.throwIfAborted();
      if (holds(await textOf(handle, line), wanted)) found.push(line);
    }
  } finally {
    await handle.close();
  }
  index.searches.set(wanted, found);
  for (const old of [...index.searches.keys()].slice(0, -SEARCHES_KEPT)) index.searches.delete(old);
  return found;
}

type Handle = Awaited<ReturnType<typeof open>>;

async function textOf(handle: Handle, { start, end }: Line): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
  return buffer.toString('utf8', 0, bytesRead);
}

/** Whether a record's words hold what is looked for; its prompt repeats them among words that every record has. */
function holds(json: string, wanted: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [['', value] as const];
    const own = fields.length > 1 ? fields.filter(([name]) => name !== 'prompt') : fields;
    return own.some(([, field]) => plain(field).toLowerCase().includes(wanted));
  } catch {
    return json.toLowerCase().includes(wanted);
  }
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function viewsOf(file: string, lines: readonly Line[]): Promise<RecordView[]> {
  const handle = await open(file);
  try {
    const views: RecordView[] = [];
    for (const line of lines) views.push(viewOf(await textOf(handle, line), line.number));
    return views;
  } finally {
    await handle.close();
  }
}

/** A record has fragments if it is meant to be interleaved; then all of it must be right. */
function viewOf(json: string, line: number): RecordView {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !('fragment_a' in value))
      return { kind: 'other', line, json: JSON.stringify(value, null, 2).slice(0, LONGEST_OTHER) };
    return { kind: 'interleave', line, record: parseInterleaveRecord(value) };
  } catch (error) {
    return { kind: 'fault', line, reason: error instanceof Error ? error.message : String(error) };
  }
}
