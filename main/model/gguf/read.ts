/** Reads the metadata of a GGUF file from its bytes, as llama.cpp reads them: what was written is checked by it. */
import { inputError } from '../../errors.ts';

type Scalar = number | boolean | string;
export type GgufMetadata = ReadonlyMap<string, Scalar | readonly Scalar[]>;

/** A number's bytes and how they are read, by the format's number of its type. */
const NUMBERS: Readonly<Record<number, readonly [bytes: number, read: (from: Buffer, at: number) => number]>> = {
  4: [4, (from, at) => from.readUInt32LE(at)],
  5: [4, (from, at) => from.readInt32LE(at)],
  6: [4, (from, at) => from.readFloatLE(at)],
};
const [BOOL, STRING, ARRAY] = [7, 8, 9];

/** The metadata; types that Braid doesn't write, and counts beyond the bytes, are errors. */
export function readGgufMetadata(bytes: Buffer): GgufMetadata {
  let at = 0;
  const take = (length: number): number => {
    if (!(at + length <= bytes.length)) throw damaged(`${length} bytes are expected at ${at} of ${bytes.length}`);
    at += length;
    return at - length;
  };
  const count = (): number => Number(bytes.readBigUInt64LE(take(8)));
  const text = (): string => {
    const length = count();
    const start = take(length);
    return bytes.toString('utf8', start, start + length);
  };
  const scalar = (type: number): Scalar => {
    if (type === STRING) return text();
    if (type === BOOL) return bytes[take(1)] === 1;
    const [width, read] = NUMBERS[type] ?? [];
    if (width === undefined || read === undefined) throw damaged(`a value has the type ${type}`);
    return read(bytes, take(width));
  };
  const list = (): Scalar[] => {
    const type = bytes.readUInt32LE(take(4));
    const length = count();
    // Each item takes a byte at least.
    if (length > bytes.length - at) throw damaged(`a list of ${length} items is expected at ${at} of ${bytes.length}`);
    return Array.from({ length }, () => scalar(type));
  };

  if (bytes.toString('latin1', take(4), 4) !== 'GGUF') throw damaged('it does not begin with "GGUF"');
  take(4 + 8);
  const metadata = new Map<string, Scalar | readonly Scalar[]>();
  for (let left = count(); left > 0; left--) {
    const key = text();
    const type = bytes.readUInt32LE(take(4));
    metadata.set(key, type === ARRAY ? list() : scalar(type));
  }
  return metadata;
}

function damaged(what: string) {
  return inputError('BAD_GGUF', `Expected the metadata of a GGUF file: ${what}`, 'Export it again.');
}
