import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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
  const known = presetNames(paths);
  if (known.includes(name)) return readConfigFile(join(paths.resources, 'presets', `${name}.yaml`));
  throw inputError('PRESET_UNKNOWN', `Expected a preset, one of ${known.join(', ')}, got "${name}"`);
}

/** The names of the presets that ship with the program. */
export function presetNames(paths: Pick<HostPaths, 'resources'>): string[] {
  const files = readdirSync(join(paths.resources, 'presets')).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => basename(file, '.yaml')).sort();
}
