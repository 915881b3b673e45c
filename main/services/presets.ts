import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { BraidError, inputError } from '../errors.ts';
import type { HostPaths } from './paths.ts';

/** Fields of a configuration as a YAML file gives them, unchecked. */
export type ConfigFields = Readonly<Record<string, unknown>>;

/** Reads a YAML configuration; faults name the file and, where YAML knows it, the line. */
export function readConfigFile(file: string): ConfigFields {
  let value: unknown;
  try {
    value = parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new BraidError('BAD_CONFIG', `${file}: ${(cause as Error).message}`, {
      kind: 'input',
      cause,
      remedy: 'Give a YAML file of configuration fields, such as the run.yaml of a run.',
    });
  }
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as ConfigFields;
  throw inputError('BAD_CONFIG', `${file}: expected fields with values, got ${JSON.stringify(value)}`);
}

/** The fields of a preset that ships with the program. */
export function readPreset(name: string, paths: Pick<HostPaths, 'resources'>): ConfigFields {
  return readConfigFile(join(paths.resources, 'presets', `${name}.yaml`));
}
