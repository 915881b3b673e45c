/** Job: a GGUF file becomes a Hugging Face folder, tensor by tensor. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { writeAll } from '../../io/atomic-write.ts';
import { unpackGguf } from '../../model/gguf/import/folder.ts';
import { openGguf } from '../../model/gguf/import/open.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import type { GgufDtype } from '../protocol/export-types.ts';
import type { JobIo } from './job-io.ts';

export interface ConvertGgufJob extends BackendChoice {
  readonly kind: 'convert-gguf';
  readonly file: string;
  /** An empty folder; whoever started the job names it when it is whole, and removes it otherwise. */
  readonly folder: string;
  readonly dtype: GgufDtype;
  /** Of the weights, for the progress. */
  readonly bytes: number;
}

const TYPES = { bfloat16: 'BF16', float32: 'F32' } as const;

export async function runConvertGgufJob({ file, folder, dtype, bytes }: ConvertGgufJob, io: JobIo): Promise<null> {
  const source = openGguf(file);
  try {
    await writeWeights(join(folder, 'model.safetensors'), unpackGguf(source, folder, TYPES[dtype]), { bytes, io });
    return null;
  } finally {
    source.close();
  }
}

async function writeWeights(
  path: string,
  pieces: Iterable<Uint8Array>,
  { bytes, io }: { readonly bytes: number; readonly io: JobIo },
): Promise<void> {
  const mebibytes = (count: number): number => Math.round(count / 2 ** 20);
  const descriptor = openSync(path, 'w');
  let done = 0;
  try {
    for (const piece of pieces) {
      writeAll(descriptor, piece);
      done += piece.length;
      await io.progress(Math.min(mebibytes(done), mebibytes(bytes)), mebibytes(bytes), 'MiB');
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
