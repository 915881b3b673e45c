/** A GGUF file's tensors under Hugging Face's names and in its layout: what `ggufTensors` does, in reverse. */
import { inputError } from '../../../errors.ts';
import type { ModelConfig } from '../../config.ts';
import { parameterShapes } from '../../model.ts';
import type { NamedPieces } from '../../safetensors.ts';
import { shown } from '../../shown.ts';
import { ggufArchitecture } from '../architectures.ts';
import { ggufName, headsOf } from '../tensors.ts';
import type { GgufFile } from './open.ts';

/** Numbers of a piece: 16 MiB of float32. */
const PIECE = 2 ** 22;
/** Tensors that config.json stands for, or that every model of llama.cpp computes anyway. */
const COMPUTED = /^rope_(freqs|factors_long|factors_short)\.weight$|^blk\.\d+\.(rope_freqs|attn_rot_embd)\.weight$/;

/** Every parameter of the model; a tensor that is missing, of another shape or left over is an error. */
export function ggufWeights(file: GgufFile, config: ModelConfig): readonly NamedPieces[] {
  const architecture = ggufArchitecture(config);
  const used = new Set<string>();
  const weights = [...parameterShapes(config)].map(([name, shape]): NamedPieces => {
    const from = ggufName(name, architecture);
    used.add(from);
    const got = file.tensors.get(from)?.shape;
    if (got?.join() !== shape.join())
      throw inputError(
        'TENSOR_MISSING',
        `${file.path}: expected "${from}" of shape [${shape.join(', ')}], got ${got === undefined ? 'none' : `[${got.join(', ')}]`}`,
        'Copy or download it again.',
      );
    const heads = architecture.interleaved ? headsOf(name, config) : null;
    const unit = heads === null ? 1 : (shape[0] ?? 1) / heads;
    const pieces = (): Iterable<Float32Array> => rowsOf(file, from, unit);
    if (heads !== null) return { name, shape, pieces: () => halves(pieces(), shape[1] ?? 1, unit) };
    const offset = config.unitOffset && name.endsWith('norm.weight');
    return { name, shape, pieces: offset ? () => minusOne(pieces()) : pieces };
  });
  const strange = [...file.tensors.keys()].find((name) => !used.has(name) && !COMPUTED.test(name));
  if (strange === undefined) return weights;
  throw inputError(
    'FOREIGN_GGUF',
    `${file.path}: it has a tensor ${shown(strange)}, which the model of its architecture that Braid knows doesn't have`,
    'Choose another model.',
  );
}

/** A tensor's numbers, `unit` rows or a multiple of them at a time. */
function* rowsOf(file: GgufFile, name: string, unit: number): Generator<Float32Array> {
  const { shape = [] } = file.tensors.get(name) ?? {};
  const width = shape.at(-1) ?? 1;
  // A vector is one row.
  const rows = shape.length === 1 ? 1 : (shape[0] ?? 1);
  const each = shape.length === 1 ? 1 : unit * Math.max(1, Math.floor(PIECE / (width * unit)));
  for (let first = 0; first < rows; first += each)
    yield file.read(name, first * width, Math.min(each, rows - first) * width);
}

/** Norms multiply by the weight alone in llama.cpp. */
function* minusOne(pieces: Iterable<Float32Array>): Generator<Float32Array> {
  for (const piece of pieces) yield piece.map((weight) => weight - 1);
}

/** Each head's rows 0, 2, 4 …, then 1, 3, 5 …: llama.cpp has neighbours where Hugging Face has two halves. */
function* halves(pieces: Iterable<Float32Array>, width: number, each: number): Generator<Float32Array> {
  for (const piece of pieces) {
    const out = new Float32Array(piece.length);
    for (let row = 0; row < piece.length / width; row++) {
      const [head, at] = [Math.floor(row / each), row % each];
      const to = head * each + (at % 2 === 0 ? at / 2 : each / 2 + (at - 1) / 2);
      out.set(piece.subarray(row * width, (row + 1) * width), to * width);
    }
    yield out;
  }
}
