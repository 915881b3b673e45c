/** A GGUF file's tensors under Hugging Face's names and in its layout: what `ggufTensors` does, in reverse. */
import { inputError } from '../../../errors.ts';
import type { ModelConfig } from '../../config.ts';
import { parameterShapes } from '../../model.ts';
import type { NamedPieces } from '../../safetensors.ts';
import { shown } from '../../shown.ts';
import { ggufArchitecture } from '../architectures.ts';
import { layoutOf, type TensorLayout } from '../layout.ts';
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
    const layout = layoutOf(name, shape, config, architecture);
    for (const from of layout.names) {
      used.add(from);
      checkShape(file, from, layout.shape);
    }
    return { name, shape, pieces: () => fromFile(file, layout) };
  });
  const unread = (name: string): boolean => COMPUTED.test(name) || isBeyond(name, config);
  const strange = [...file.tensors.keys()].find((name) => !used.has(name) && !unread(name));
  if (strange === undefined) return weights;
  throw inputError(
    'FOREIGN_GGUF',
    `${file.path}: it has a tensor ${shown(strange)}, which the model of its architecture that Braid knows doesn't have`,
    'Choose another model.',
  );
}

/** Layers after the last of Qwen3.5 guess several tokens at once, which answers don't need. */
function isBeyond(name: string, { modelType, numLayers }: ModelConfig): boolean {
  const [, layer] = /^blk\.(\d+)\./.exec(name) ?? [];
  return modelType === 'qwen3_5_text' && layer !== undefined && Number(layer) >= numLayers;
}

function checkShape({ path, tensors }: GgufFile, name: string, shape: readonly number[]): void {
  const got = tensors.get(name)?.shape;
  if (got?.join() === shape.join()) return;
  throw inputError(
    'TENSOR_MISSING',
    `${path}: expected "${name}" of shape [${shape.join(', ')}], got ${got === undefined ? 'none' : `[${got.join(', ')}]`}`,
    'Copy or download it again.',
  );
}

function* fromFile(file: GgufFile, { names, unit, fromFile }: TensorLayout): Generator<Float32Array> {
  for (const name of names) for (const piece of rowsOf(file, name, unit)) yield fromFile(piece);
}

/** A tensor's numbers, `unit` rows or a multiple of them at a time. */
export function* rowsOf(file: GgufFile, name: string, unit: number): Generator<Float32Array> {
  const { shape = [] } = file.tensors.get(name) ?? {};
  const width = shape.at(-1) ?? 1;
  // A vector is one row.
  const rows = shape.length === 1 ? 1 : (shape[0] ?? 1);
  const each = shape.length === 1 ? 1 : unit * Math.max(1, Math.floor(PIECE / (width * unit)));
  for (let first = 0; first < rows; first += each)
    yield file.read(name, first * width, Math.min(each, rows - first) * width);
}
