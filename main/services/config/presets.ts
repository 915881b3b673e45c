/** Configurations in YAML: the user's files and the bundled presets. */

import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { YAMLMap } from 'yaml';
import { inputError } from '../../errors.ts';
import { ENOUGH_FAULTS, type FileFault, faultsError, readTextFile } from '../../io/text-file.ts';
import { parseYaml } from '../../io/yaml.ts';
import { shown } from '../../tasks/record-faults.ts';
import { fieldFaults } from '../../trainer/config/config.ts';
import { withNamesHere } from '../../trainer/config/trl-names.ts';
import type { HostPaths } from '../workspace/paths.ts';

/** Fields of a configuration from a YAML file. */
export type ConfigFields = Readonly<Record<string, unknown>>;

const REMEDY = 'Give a YAML file of configuration fields, such as the run.yaml of a run; docs/run-yaml.md lists them.';

/** Reads a YAML configuration; errors name the file, the line and the field. */
export function readConfigFile(file: string): ConfigFields {
  const content = readTextFile(file, MOST_BYTES);
  if (content.kind === 'bad') throw faultsError('BAD_CONFIG', [content.fault], REMEDY);
  return parseConfigText(file, content.value);
}

/** A configuration takes 4 kB. */
const MOST_CHARACTERS = 32 * 2 ** 10;
const MOST_BYTES = 2 ** 20;

/** The same for a content by its name, such as a file that a page hands in. */
export function parseConfigText(file: string, text: string): ConfigFields {
  if (text.length > MOST_CHARACTERS)
    throw inputError(
      'BAD_CONFIG',
      `${file}: expected at most ${MOST_CHARACTERS} characters, got ${text.length}`,
      REMEDY,
    );
  const { document, faults: broken, lineAt } = parseYaml(text);
  if (broken.length > 0)
    throw faultsError(
      'BAD_CONFIG',
      broken.map((fault): FileFault => ({ file, ...fault })),
      REMEDY,
    );
  const value: unknown = document.toJS();
  if (value === null)
    throw inputError('BAD_CONFIG', `${file}: expected fields with values, but there are none`, REMEDY);
  if (typeof value !== 'object' || Array.isArray(value))
    throw inputError('BAD_CONFIG', `${file}: expected fields with values, got ${shown(value)}`, REMEDY);
  const places = fieldLines(document.contents as YAMLMap, lineAt);
  const faults = fieldFaults(value, ENOUGH_FAULTS)
    .map(({ field, message }) => ({
      file,
      line: places.get(field) ?? null,
      reason: message.includes(`"${field}"`) ? message : `"${field}": ${message}`,
    }))
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  if (faults.length > 0) throw faultsError('BAD_CONFIG', faults, REMEDY);
  return withNamesHere(value as ConfigFields);
}

function fieldLines(map: YAMLMap, lineAt: (offset: number) => number): ReadonlyMap<string, number> {
  return new Map(
    map.items.flatMap(({ key }) => {
      const { value, range } = key as { readonly value?: unknown; readonly range?: readonly number[] | null };
      return range?.[0] === undefined ? [] : [[String(value), lineAt(range[0])] as const];
    }),
  );
}

/** The fields of a bundled preset. */
export function readPreset(name: string, paths: Pick<HostPaths, 'resources'>): ConfigFields {
  const known = presetNames(paths);
  if (known.includes(name)) return readConfigFile(join(paths.resources, 'presets', `${name}.yaml`));
  throw inputError('PRESET_UNKNOWN', `Expected a preset, one of ${known.join(', ')}, got "${name}"`);
}

/** The names of the bundled presets. */
export function presetNames(paths: Pick<HostPaths, 'resources'>): string[] {
  const files = readdirSync(join(paths.resources, 'presets')).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => basename(file, '.yaml')).sort();
}

/** The fields for `--config`: a file, or the name of a preset if there is no such file. */
export function readConfigChoice(choice: string, paths: Pick<HostPaths, 'resources'>): ConfigFields {
  if (existsSync(choice) || /[\\/]|\.ya?ml$/.test(choice)) return readConfigFile(choice);
  return readPreset(choice, paths);
}
