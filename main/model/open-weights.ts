/** The tensors of a Hugging Face folder, under the names that transformers finds them by. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError, inputError } from '../errors.ts';
import type { Quantised } from '../tensor/quantised.ts';
import type { WeightSource } from '../tensor/weights.ts';
import { weightOfCodes } from './quantised/parts.ts';
import { quantisedSource } from './quantised/source.ts';
import { openSafetensors, type SafetensorsFile, toFloat32 } from './safetensors.ts';
import { shardMap, WHOLE } from './weight-files.ts';
import { EMBEDDING, HEAD, nameIn, noTensor, type WeightsOptions } from './weight-names.ts';

export interface Weights {
  /** Whether there is a tensor. */
  has(name: string): boolean;
  /** The source of a tensor's values, once its presence and shape are checked. */
  source(name: string, shape: readonly number[]): WeightSource;
  /** The shape of a tensor; throws if there is none. */
  shape(name: string): readonly number[];
  /** What the files call all their tensors, and those whose sources were asked for. */
  names(): { readonly all: Iterable<string>; readonly used: ReadonlySet<string> };
  close(): void;
}

/** Finds the file of every tensor and opens files as they are needed. */
export function openWeights(folder: string, options: WeightsOptions = {}): Weights {
  const opened = new Map<string, SafetensorsFile>();
  const used = new Set<string>();
  const map = shardMap(folder);
  const fileOf = (name: string): string => (map === null ? WHOLE : (map.get(name) ?? ''));
  const file = (name: string): SafetensorsFile => {
    const path = join(folder, name);
    const known = opened.get(path) ?? openSafetensors(path);
    opened.set(path, known);
    return known;
  };
  const stored = (): ReadonlyMap<string, unknown> => map ?? file(WHOLE).entries;
  // Of some methods, a quantised weight isn't there under its own name.
  let all: ReadonlyMap<string, unknown> | null = null;
  const names = (): ReadonlyMap<string, unknown> => {
    if (!options.quantisation) return stored();
    all ??= new Map(
      [...stored()].flatMap(([name, of]) => [[name, of] as const, [weightOfCodes(name) ?? name, of] as const]),
    );
    return all;
  };
  const placeOf = (name: string) => {
    if (!stored().has(name)) return null;
    return { file: file(fileOf(name)), path: join(folder, fileOf(name)) };
  };
  const nameOf = (name: string, shape?: readonly number[]): string => {
    const found = nameIn(names(), name, options);
    if (found === null) throw noTensor(folder, names(), name, shape);
    return found;
  };
  const entryOf = (name: string) => {
    const entry = file(fileOf(name)).entries.get(name);
    if (entry !== undefined) return entry;
    throw inputError(
      'TENSOR_MISSING',
      `${join(folder, fileOf(name))}: expected a tensor "${name}" by the index of the folder, the file has none`,
      'Copy or download the whole model folder again.',
    );
  };
  const source = (wanted: string, shape: readonly number[]): WeightSource => {
    const name = nameOf(wanted, shape);
    used.add(name);
    const quantised = options.quantisation ? quantisedSource(options.quantisation, name, shape, placeOf) : null;
    if (quantised !== null) return quantised;
    const entry = entryOf(name);
    if (entry.shape.join() !== shape.join()) {
      throw inputError(
        'BAD_SHAPE',
        `${join(folder, fileOf(name))}: expected "${name}" of shape [${shape.join(', ')}] by config.json, got [${entry.shape.join(', ')}]`,
        'Copy or download the whole model folder again.',
      );
    }
    const from = file(fileOf(name));
    return {
      type: from.typeOf(name),
      read: () => from.read(name),
      readPart: (first, count) => toFloat32(from.readRaw(name, first, count), from.typeOf(name)),
      readRaw: (first, count) => from.readRaw(name, first, count),
    };
  };
  const close = (): void => {
    for (const handle of opened.values()) handle.close();
  };
  const has = (name: string): boolean => nameIn(names(), name, options) !== null;
  const shape = (name: string): readonly number[] => entryOf(nameOf(name)).shape;
  return { has, source, shape, names: () => ({ all: stored().keys(), used }), close };
}

/** Numbers compared at a time. */
const PIECE = 2 ** 22;
/** What was found out of a folder, by the state of its files: the same two matrices aren't compared again. */
const known = new Map<string, boolean>();

/**
 * Whether a model whose config.json ties the head to the embedding has a head of its own, in other numbers: then it is
 * used, as in transformers 5. Files that can't be read say nothing here; whoever loads them reports it.
 */
export function hasOwnHead(folder: string, options: Pick<WeightsOptions, 'textPart' | 'quantisation'> = {}): boolean {
  const found = lookInto(folder, options, (weights) => {
    if (!weights.has(HEAD) || !weights.has(EMBEDDING)) return false;
    const key = stateOf(folder);
    const differs = known.get(key) ?? differ(weights);
    known.set(key, differs);
    return differs;
  });
  return found ?? false;
}

/** In which blocks of Braid's own kernels a folder has a matrix; null: in none, or it can't be read. */
export function packedKind(
  folder: string,
  options: WeightsOptions,
  name: string,
  shape: readonly number[],
): Quantised | null {
  return lookInto(folder, options, (weights) => weights.source(name, shape).packed?.kind ?? null);
}

/** Null: a file can't be read, which whoever loads it reports. */
export function lookInto<T>(folder: string, options: WeightsOptions, look: (weights: Weights) => T): T | null {
  try {
    const weights = openWeights(folder, options);
    try {
      return look(weights);
    } finally {
      weights.close();
    }
  } catch (error) {
    if (error instanceof BraidError) return null;
    throw error;
  }
}

function stateOf(folder: string): string {
  const files = new Set(shardMap(folder)?.values() ?? [WHOLE]);
  const states = [...files].map((name) => statSync(join(folder, name), { throwIfNoEntry: false }));
  return JSON.stringify([folder, ...states.map((state) => [state?.mtimeMs, state?.size])]);
}

function differ(weights: Weights): boolean {
  const shape = weights.shape(EMBEDDING);
  if (weights.shape(HEAD).join() !== shape.join()) return true;
  const [head, embedding] = [weights.source(HEAD, shape), weights.source(EMBEDDING, shape)];
  if (head.type !== embedding.type) return true;
  const numbers = shape.reduce((a, b) => a * b, 1);
  for (let first = 0; first < numbers; first += PIECE) {
    const count = Math.min(PIECE, numbers - first);
    if (!head.readRaw(first, count).equals(embedding.readRaw(first, count))) return true;
  }
  return false;
}
