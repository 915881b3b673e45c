/**
 * Results that are kept in docs/ name the weights and the options that they were measured with, and only results of
 * equal ones stand in one table.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { digestOf } from '../main/model/checksums.ts';

export interface Conditions {
  /** SHA-256 of the weights that the first run started from. */
  readonly model_sha256: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** The SHA-256 of a model folder's weights. */
export function weightsDigest(folder: string): string {
  return digestOf(readFileSync(join(folder, 'model.safetensors')));
}

/** What differs, in words, such as `steps (60, not 20)`; null: nothing. Results of older versions may name less. */
export function differenceBetween(expected: Conditions, given: Partial<Conditions>): string | null {
  if (given.model_sha256 !== expected.model_sha256) return "the model's weights";
  const [own, other] = [stored(expected.options), stored(given.options ?? {})];
  const names = [...new Set([...Object.keys(own), ...Object.keys(other)])];
  const found = names.filter((name) => !isDeepStrictEqual(own[name], other[name]));
  if (found.length === 0) return null;
  return found.map((name) => `${name} (${told(own[name])}, not ${told(other[name])})`).join(', ');
}

/** The results in a folder by the names of their files; empty without the folder. */
export function readResults<T>(folder: string): ReadonlyMap<string, T> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return new Map(names.sort().map((name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8')) as T]));
}

/** As a result file holds them. */
function stored(options: Conditions['options']): Conditions['options'] {
  return JSON.parse(JSON.stringify(options)) as Conditions['options'];
}

function told(value: unknown): string {
  return JSON.stringify(value) ?? 'none';
}
