/** Reads the head of a GGUF file from its bytes, as llama.cpp reads it: metadata, then what its tensors are called. */
import { inputError } from '../../errors.ts';

type Scalar = number | boolean | string;
export type GgufMetadata = ReadonlyMap<string, Scalar | readonly Scalar[]>;

/** A tensor as the head describes it. */
export interface GgufEntry {
  readonly name: string;
  /** As in safetensors: rows first. */
  readonly shape: readonly number[];
  /** The format's number of its type. */
  readonly type: number;
  /** Bytes from the start of the data. */
  readonly offset: number;
}

export interface GgufHead {
  readonly metadata: GgufMetadata;
  readonly entries: readonly GgufEntry[];
  /** Bytes of the head, without the padding after it. */
  readonly bytes: number;
}

/** A number's bytes and how they are read, by the format's number of its type. */
const NUMBERS: Readonly<Record<number, readonly [bytes: number, read: (from: Buffer, at: number) => number]>> = {
  0: [1, (from, at) => from.readUInt8(at)],
  1: [1, (from, at) => from.readInt8(at)],
  2: [2, (from, at) => from.readUInt16LE(at)],
  3: [2, (from, at) => from.readInt16LE(at)],
  4: [4, (from, at) => from.readUInt32LE(at)],
  5: [4, (from, at) => from.readInt32LE(at)],
  6: [4, (from, at) => from.readFloatLE(at)],
  10: [8, (from, at) => Number(from.readBigUInt64LE(at))],
  11: [8, (from, at) => Number(from.readBigInt64LE(at))],
  12: [8, (from, at) => from.readDoubleLE(at)],
};
const [BOOL, STRING, ARRAY] = [7, 8, 9];
/** Far beyond any model: the largest have 260,000 tokens, 500,000 merges and 20,000 tensors. */
const MOST = { keys: 2 ** 16, items: 2 ** 23, tensors: 2 ** 16, layers: 1000, dimensions: 4, name: 2 ** 10 } as const;

export interface ReadOptions {
  /** False: lists of more than a model's layers come out empty; who only wants to know what a file is needs no vocabulary. */
  readonly lists?: boolean;
}

/** The metadata alone; counts beyond the bytes are errors. */
export function readGgufMetadata(bytes: Buffer): GgufMetadata {
  return metadataFrom(reader(bytes)).metadata;
}

/** The whole head. `bytes`: the file, or the beginning of it that is long enough. */
export function readGgufHead(bytes: Buffer, options: ReadOptions = {}): GgufHead {
  const from = reader(bytes);
  const { metadata, tensors } = metadataFrom(from, options);
  if (tensors > MOST.tensors) throw damaged(`${tensors} tensors`);
  const entries: GgufEntry[] = [];
  for (let left = tensors; left > 0; left--) {
    const name = from.text(MOST.name);
    const dimensions = from.uint32();
    if (dimensions > MOST.dimensions) throw damaged(`a tensor has ${dimensions} dimensions`);
    const shape = Array.from({ length: dimensions }, () => from.count()).reverse();
    entries.push({ name, shape, type: from.uint32(), offset: from.count() });
  }
  return { metadata, entries, bytes: from.at() };
}

function reader(bytes: Buffer) {
  let at = 0;
  const take = (length: number): number => {
    if (!(at + length <= bytes.length)) throw damaged(`${length} bytes are expected at ${at} of ${bytes.length}`);
    at += length;
    return at - length;
  };
  const count = (): number => Number(bytes.readBigUInt64LE(take(8)));
  const text = (most = Number.POSITIVE_INFINITY): string => {
    const length = count();
    if (length > most) throw damaged(`a name of ${length} bytes`);
    const start = take(length);
    return bytes.toString('utf8', start, start + length);
  };
  const uint32 = (): number => bytes.readUInt32LE(take(4));
  return { bytes, take, count, text, uint32, at: () => at, left: () => bytes.length - at };
}

function metadataFrom(from: ReturnType<typeof reader>, { lists = true }: ReadOptions = {}) {
  const { bytes, take, count, text, uint32 } = from;
  const scalar = (type: number): Scalar => {
    if (type === STRING) return text();
    if (type === BOOL) return bytes[take(1)] === 1;
    const [width, read] = NUMBERS[type] ?? [];
    if (width === undefined || read === undefined) throw damaged(`a value has the type ${type}`);
    return read(bytes, take(width));
  };
  let items = 0;
  const list = (): Scalar[] => {
    const type = uint32();
    const length = count();
    // Each item takes a byte at least.
    if (length > from.left()) throw damaged(`a list of ${length} items is expected at ${from.at()} of ${bytes.length}`);
    items += length;
    if (items > MOST.items) throw damaged(`lists of ${items} items`);
    if (lists || length <= MOST.layers) return Array.from({ length }, () => scalar(type));
    const [width] = type === BOOL ? [1] : (NUMBERS[type] ?? []);
    if (width !== undefined) take(width * length);
    else for (let left = length; left > 0; left--) type === STRING ? take(count()) : scalar(type);
    return [];
  };

  if (bytes.toString('latin1', take(4), 4) !== 'GGUF') throw damaged('it does not begin with "GGUF"');
  const version = uint32();
  if (version !== 2 && version !== 3) throw damaged(versionWords(version));
  const tensors = count();
  const keys = count();
  if (keys > MOST.keys) throw damaged(`${keys} keys`);
  const metadata = new Map<string, Scalar | readonly Scalar[]>();
  for (let left = keys; left > 0; left--) {
    const key = text();
    const type = uint32();
    if (metadata.has(key)) throw damaged(`it has the key "${key.slice(0, 60)}" twice`);
    metadata.set(key, type === ARRAY ? list() : scalar(type));
  }
  return { metadata, tensors };
}

function versionWords(version: number): string {
  const swapped = version % 2 ** 16 === 0;
  return swapped ? 'its bytes are in big-endian order' : `it is of version ${version} of the format, not 2 or 3`;
}

function damaged(what: string) {
  return inputError('BAD_GGUF', `Expected the metadata of a GGUF file: ${what}`, 'Export it again.');
}
