/** Job: a model or checkpoint, its adapter merged, as a Hugging Face folder and as GGUF. */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeFolderAtomic, writePieces } from '../../io/atomic-write.ts';
import { byName, encodeModelConfig } from '../../model/export.ts';
import { ggufPieces } from '../../model/gguf/file.ts';
import { ggufMetadata } from '../../model/gguf/metadata.ts';
import { modelfile } from '../../model/gguf/modelfile.ts';
import { checkReadBack } from '../../model/gguf/read-back.ts';
import { ggufTensors } from '../../model/gguf/tensors.ts';
import { compareWeightsBack, type WeightsBack } from '../../model/gguf/weights-back.ts';
import { type MergedModel, openMergedModel } from '../../model/merge.ts';
import { readConfigToCopy } from '../../model/read-json.ts';
import { type FloatType, safetensorsPieces } from '../../model/safetensors.ts';
import { loadTokenizer } from '../../model/tokenizer.ts';
import { storedName } from '../../model/weight-names.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import { checkParts, type ModelParts } from '../policy/model-parts.ts';
import { DTYPES, type Dtype, type GgufChoice } from '../protocol/export-types.ts';
import type { JobIo } from './job-io.ts';

export interface MergeJob extends BackendChoice {
  readonly kind: 'merge';
  readonly model: ModelParts;
  /** A folder that doesn't exist yet, or is empty. */
  readonly folder: string;
  /** Null: as the base model's weights are stored. */
  readonly dtype: Dtype | null;
  /** Null: no GGUF file. */
  readonly gguf: GgufChoice | null;
}

export interface MergeFiles {
  readonly dtype: Dtype;
  /** The path of the GGUF file. */
  readonly gguf: string | null;
  /** Its weights, read back; null: there is none. */
  readonly readBack: WeightsBack | null;
}

const TYPES: Readonly<Record<Dtype, FloatType>> = { bfloat16: 'BF16', float16: 'F16', float32: 'F32' };
const GGUF_TYPES = { f16: 'F16', q8_0: 'Q8_0' } as const;

/** Writes all files or none. */
export async function runMergeJob({ model: parts, folder, ...job }: MergeJob, io: JobIo): Promise<MergeFiles> {
  checkParts(parts);
  const merged = openMergedModel(parts.base, parts.adapter);
  const dtype = job.dtype ?? DTYPES.find((name) => TYPES[name] === merged.storedAs) ?? 'float32';
  const ggufName = job.gguf === null ? null : `${basename(folder)}-${job.gguf}.gguf`;
  try {
    const gguf =
      job.gguf === null ? null : ggufOf(merged, parts.tokenizer, { choice: job.gguf, name: basename(folder) });
    writeFolderAtomic(folder, (into) => {
      writeHuggingFace(merged, parts, { into, type: TYPES[dtype], alive: io.alive });
      if (ggufName === null || gguf === null) return;
      writePieces(join(into, ggufName), gguf, io.alive);
      writeFileSync(join(into, 'Modelfile'), modelfile(ggufName, parts.tokenizer, merged.config));
    });
    const file = ggufName === null ? null : join(folder, ggufName);
    const readBack = file === null ? null : compareWeightsBack(file, merged, io.alive);
    return { dtype, gguf: file, readBack };
  } finally {
    merged.close();
  }
}

/** Asked for before anything is written: it refuses what llama.cpp can't read, and the rest takes minutes. */
function ggufOf(
  merged: MergedModel,
  tokenizer: string,
  { choice, name }: { readonly choice: GgufChoice; readonly name: string },
): Iterable<Uint8Array> {
  const type = GGUF_TYPES[choice];
  const metadata = ggufMetadata(merged.config, tokenizer, { name, type });
  const tensors = ggufTensors(merged, type);
  checkReadBack(metadata, tokenizer);
  return ggufPieces(metadata, tensors);
}

function writeHuggingFace(
  merged: MergedModel,
  parts: ModelParts,
  { into, type, alive }: { readonly into: string; readonly type: FloatType; readonly alive: () => void },
): void {
  const config = encodeModelConfig(merged.config, type, readConfigToCopy(parts.base));
  writeFileSync(join(into, 'config.json'), config);
  for (const { name, content } of loadTokenizer(parts.tokenizer).files) writeFileSync(join(into, name), content());
  const tensors = merged.tensors
    .map(({ name, shape, pieces }) => ({ name: storedName(name), shape, pieces: () => pieces() }))
    .sort(byName);
  writePieces(join(into, 'model.safetensors'), safetensorsPieces(tensors, { format: 'pt' }, type), alive);
}
