/**
 * A model's weights with its adapter merged into them: W + scaling · B·A, as PEFT's merge_and_unload. Tensors are read
 * and merged some rows at a time, without a backend: no model is ever in memory as a whole.
 */
import { join } from 'node:path';
import { inputError } from '../errors.ts';
import { type ModelConfig, readModelConfig } from './config.ts';
import { loraName, loraRank, loraScaling } from './lora.ts';
import { parameterShapes } from './model.ts';
import { isLinearWeight } from './names.ts';
import { openWeights } from './open-weights.ts';
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS, checkForeign } from './peft.ts';
import { parseAdapterConfig, targetedModules } from './peft-config.ts';
import { readSettings } from './read-json.ts';
import { type FloatType, openSafetensors } from './safetensors.ts';
import { weightsOptions } from './weight-names.ts';

/** A tensor of the merged model. */
export interface MergedTensor {
  /** Its Hugging Face name. */
  readonly name: string;
  readonly shape: readonly number[];
  /** Its values, `unit` rows or a multiple of them at a time. */
  pieces(unit?: number): Iterable<Float32Array>;
}

export interface MergedModel {
  readonly config: ModelConfig;
  /** How the base model's weights are stored. */
  readonly storedAs: FloatType;
  /** In the order of `parameterShapes`; a tied head isn't there. */
  readonly tensors: readonly MergedTensor[];
  close(): void;
}

/** Adds scaling · B·A to rows of a weight, in place: `rows` [n, in], which are rows `first` … of W. */
type AddTo = (rows: Float32Array, first: number) => void;

/** Numbers of a piece: 16 MiB of float32. */
const PIECE = 2 ** 22;

/** Opens the model in `base` under the adapter in `adapter` (null: none). */
export function openMergedModel(base: string, adapter: string | null): MergedModel {
  const config = readModelConfig(base);
  const shapes = parameterShapes(config);
  const addends = adapter === null ? new Map<string, AddTo>() : readAddends(adapter, shapes);
  const weights = openWeights(base, weightsOptions(config));
  const tensors = [...shapes].map(([name, shape]): MergedTensor => {
    const [rows = 1] = shape;
    const width = shape.slice(1).reduce((a, b) => a * b, 1);
    const add = addends.get(name);
    return {
      name,
      shape,
      *pieces(unit = 1) {
        const source = weights.source(name, shape);
        const each = unit * Math.max(1, Math.floor(PIECE / (width * unit)));
        for (let first = 0; first < rows; first += each) {
          const piece = source.readPart(first * width, Math.min(each, rows - first) * width);
          add?.(piece, first);
          yield piece;
        }
      },
    };
  });
  const [embedding = '', shape = []] = [...shapes][0] ?? [];
  return { config, tensors, storedAs: weights.source(embedding, shape).type, close: weights.close };
}

/** What the adapter adds to each of its weights. Its matrices are small and stay in memory. */
function readAddends(folder: string, shapes: ReadonlyMap<string, readonly number[]>): ReadonlyMap<string, AddTo> {
  const configFile = join(folder, ADAPTER_CONFIG);
  const config = parseAdapterConfig(readSettings(configFile), configFile);
  const modules = [...shapes.keys()].filter(isLinearWeight).map((name) => name.slice(0, -7));
  const adapted = targetedModules(config, modules, configFile);
  const path = join(folder, ADAPTER_WEIGHTS);
  const file = openSafetensors(path);
  try {
    checkForeign(file, adapted, path);
    const addends = [...adapted].map((module) => {
      const [out = 0, width = 0] = shapes.get(`${module}.weight`) ?? [];
      const read = (which: 'A' | 'B', shape: readonly number[]): Float32Array => {
        const name = loraName(module, which);
        const got = file.entries.get(name)?.shape;
        if (got?.join() === shape.join()) return file.read(name);
        throw inputError(
          'ADAPTER_MISMATCH',
          `${path}: expected "${name}" of shape [${shape.join(', ')}], got ${got === undefined ? 'none' : `[${got.join(', ')}]`}`,
          'Use the base model that the adapter was trained on.',
        );
      };
      const r = loraRank(config.strength, module);
      const scaling = loraScaling(config.strength, module);
      const [a, b] = [read('A', [r, width]), read('B', [out, r])];
      return [`${module}.weight`, productAdder(a, b, { r, width, scaling })] as const;
    });
    return new Map(addends);
  } finally {
    file.close();
  }
}

/** A [r, width], B [out, r]. */
function productAdder(
  a: Float32Array,
  b: Float32Array,
  { r, width, scaling }: { readonly r: number; readonly width: number; readonly scaling: number },
): AddTo {
  const delta = new Float64Array(width);
  return (rows, first) => {
    for (let row = 0; row < rows.length / width; row++) {
      delta.fill(0);
      for (let k = 0; k < r; k++) {
        const factor = scaling * (b[(first + row) * r + k] ?? 0);
        for (let i = 0; i < width; i++) delta[i] = (delta[i] ?? 0) + factor * (a[k * width + i] ?? 0);
      }
      for (let i = 0; i < width; i++) rows[row * width + i] = (rows[row * width + i] ?? 0) + (delta[i] ?? 0);
    }
  };
}
