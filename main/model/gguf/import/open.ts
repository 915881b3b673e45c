/** Opens a GGUF file: its head is read and checked against the file's size, its tensors are read some rows at a time. */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { BraidError, inputError } from '../../../errors.ts';
import { openRegular } from '../../../io/read-file.ts';
import { refusePointer } from '../../git-lfs.ts';
import { allFinite } from '../../safetensors.ts';
import { shown } from '../../shown.ts';
import { type GgufEntry, type GgufHead, type GgufMetadata, type ReadOptions, readGgufHead } from '../read.ts';
import { dequantise, type TensorType, tensorType, typeName } from './dequantise.ts';

export interface GgufTensorInfo extends Omit<GgufEntry, 'type'> {
  readonly type: TensorType;
}

export interface GgufFile {
  /** Its path, for errors. */
  readonly path: string;
  readonly bytes: number;
  readonly metadata: GgufMetadata;
  readonly tensors: ReadonlyMap<string, GgufTensorInfo>;
  /** `count` numbers of a tensor from number `first` on, both at whole blocks. */
  read(name: string, first: number, count: number): Float32Array<ArrayBuffer>;
  close(): void;
}

/** Most of a head is its vocabulary: 12 MB for 260,000 tokens. */
const FIRST_BYTES = 2 ** 20;
const MOST_BYTES = 2 ** 27;
const COPY_AGAIN = 'Copy or download it again.';

export function openGguf(path: string, options: ReadOptions = {}): GgufFile {
  const descriptor = open(path);
  try {
    const bytes = fstatSync(descriptor).size;
    const head = readHead(descriptor, bytes, path, options);
    refuseParts(head.metadata, path);
    const start = dataStart(head, path);
    const tensors = checkedTensors(head.entries, { start, bytes, path });
    const read = (name: string, first: number, count: number): Float32Array<ArrayBuffer> => {
      const tensor = tensors.get(name);
      if (tensor === undefined) throw new Error(`Expected a tensor of the file, got ${name}`);
      const { block, bytes: width } = tensor.type;
      const raw = readAt(descriptor, start + tensor.offset + (first / block) * width, (count / block) * width, path);
      const numbers = dequantise(raw, tensor.type);
      if (!allFinite(Buffer.from(numbers.buffer), 'F32'))
        throw inputError('NOT_FINITE', `${path}: expected finite numbers in ${shown(name)}`, COPY_AGAIN);
      return numbers;
    };
    return { path, bytes, metadata: head.metadata, tensors, read, close: () => closeSync(descriptor) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function open(path: string): number {
  try {
    return openRegular(path);
  } catch (cause) {
    throw Object.assign(inputError('BAD_GGUF', `${path}: can't be opened (${(cause as Error).message})`), { cause });
  }
}

/** A beginning that turns out too short is read again, longer. */
function readHead(descriptor: number, fileBytes: number, path: string, options: ReadOptions): GgufHead {
  for (let length = FIRST_BYTES; ; length *= 8) {
    const bytes = readAt(descriptor, 0, Math.min(length, MOST_BYTES, fileBytes), path);
    refusePointer(bytes.toString('latin1', 0, 64), path);
    const isAll = bytes.length === fileBytes || bytes.length === MOST_BYTES;
    try {
      return readGgufHead(bytes, options);
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      if (isAll || bytes.toString('latin1', 0, 4) !== 'GGUF')
        throw inputError('BAD_GGUF', `${path}: ${error.message}`, COPY_AGAIN);
    }
  }
}

function readAt(descriptor: number, position: number, length: number, path: string): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const got = readSync(descriptor, bytes, done, Math.min(length - done, 2 ** 30), position + done);
    if (got === 0) throw truncated(path, `it ends at byte ${position + done}`);
    done += got;
  }
  return bytes;
}

function refuseParts(metadata: GgufMetadata, path: string): void {
  const parts = metadata.get('split.count');
  if (typeof parts === 'number' && parts > 1)
    throw inputError(
      'SPLIT_GGUF',
      `${path}: it is one of ${parts} parts of a model`,
      'Join them with "llama-gguf-split --merge" of llama.cpp, then add the joined file.',
    );
  const kind = metadata.get('general.type');
  if (kind !== undefined && kind !== 'model')
    throw inputError('FOREIGN_GGUF', `${path}: expected a model, got a file of the kind ${shown(kind)}`);
}

function dataStart({ metadata, bytes }: GgufHead, path: string): number {
  const alignment = metadata.get('general.alignment') ?? 32;
  if (typeof alignment !== 'number' || alignment < 8 || alignment > 2 ** 16 || alignment % 8 !== 0)
    throw inputError('BAD_GGUF', `${path}: "general.alignment" is ${shown(alignment)}`, COPY_AGAIN);
  return Math.ceil(bytes / alignment) * alignment;
}

/** The tensors, each once, of a known type, within the file, and apart from each other. */
function checkedTensors(
  entries: readonly GgufEntry[],
  { start, bytes, path }: { readonly start: number; readonly bytes: number; readonly path: string },
): ReadonlyMap<string, GgufTensorInfo> {
  const tensors = new Map<string, GgufTensorInfo>();
  let end = 0;
  for (const entry of [...entries].sort((a, b) => a.offset - b.offset)) {
    const { name, shape, offset } = entry;
    const type = tensorType(entry.type);
    if (type === null) throw unreadable(entry, path);
    const width = shape.at(-1) ?? 1;
    if (width % type.block !== 0 || shape.includes(0) || tensors.has(name))
      throw inputError('BAD_GGUF', `${path}: ${shown(name)} of shape [${shape.join(', ')}] isn't a tensor`, COPY_AGAIN);
    if (offset < end) throw inputError('BAD_GGUF', `${path}: ${shown(name)} lies over another tensor`, COPY_AGAIN);
    end = offset + (shape.reduce((a, b) => a * b, 1) / type.block) * type.bytes;
    if (!(start + end <= bytes)) throw truncated(path, `${shown(name)} ends at byte ${start + end} of ${bytes}`);
    tensors.set(name, { ...entry, type });
  }
  return tensors;
}

function unreadable({ name, type }: GgufEntry, path: string) {
  return inputError(
    'UNSUPPORTED_DTYPE',
    `${path}: its weights are in ${typeName(type)} (${shown(name)}), which Braid can't read`,
    'Use a file of the same model in F16, BF16, Q8_0, Q4_0 to Q5_1, Q2_K to Q6_K or IQ4_NL.',
  );
}

function truncated(path: string, detail: string) {
  return inputError('FILE_TRUNCATED', `${path}: the file is truncated: ${detail}`, COPY_AGAIN);
}
