/** Configurations in YAML: files that people write, and the presets that ship with the program. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { LineCounter, parseDocument, type YAMLMap } from 'yaml';
import { inputError } from '../errors.ts';
import { fieldFaults } from '../trainer/config.ts';
import type { HostPaths } from './paths.ts';
import { type FileFault, faultsError, readTextFile } from './text-file.ts';

/** Fields of a configuration as a YAML file gives them. */
export type ConfigFields = Readonly<Record<string, unknown>>;

const REMEDY = 'Give a YAML file of configuration fields, such as the run.yaml of a run; docs/formats.md lists them.';

/** Reads a YAML configuration; faults name the file, the line and the field. */
export function readConfigFile(file: string): ConfigFields {
  const content = readTextFile(file);
  if (content.kind === 'bad') throw faultsError('BAD_CONFIG', [content.fault], REMEDY);
  return parseConfigText(file, content.value);
}

/** The same for a content by its name, such as a file that a page hands in. */
export function parseConfigText(file: string, text: string): ConfigFields {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const broken = document.errors.map(
    ({ pos, message }): FileFault => ({ file, line: lineAt(pos[0]), reason: firstLine(message) }),
  );
  if (broken.length > 0) throw faultsError('BAD_CONFIG', broken, REMEDY);
  const value: unknown = document.toJS();
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw inputError('BAD_CONFIG', `${file}: expected fields with values, got ${JSON.stringify(value)}`, REMEDY);
  const places = fieldLines(document.contents as YAMLMap, lineAt);
  const faults = fieldFaults(value).map(({ field, message }) => ({
    file,
    line: places.get(field) ?? null,
    reason: message.includes(`"${field}"`) ? message : `"${field}": ${message}`,
  }));
  if (faults.length > 0) throw faultsError('BAD_CONFIG', faults, REMEDY);
  return value as ConfigFields;
}

function firstLine(message: string): string {
  return message.split('\n')[0]?.replace(/:$/, '') ?? message;
}

function fieldLines(map: YAMLMap, lineAt: (offset: number) => number): ReadonlyMap<string, number> {
  return new Map(
    map.items.flatMap(({ key }) => {
      const { value, range } = key as { readonly value?: unknown; readonly range?: readonly number[] | null };
      return range?.[0] === undefined ? [] : [[String(value), lineAt(range[0])] as const];
    }),
  );
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

/** The fields that `--config` means: a file, or the name of a preset where no such file is. */
export function readConfigChoice(choice: string, paths: Pick<HostPaths, 'resources'>): ConfigFields {
  if (existsSync(choice) || /[\\/]|\.ya?ml$/.test(choice)) return readConfigFile(choice);
  return readPreset(choice, paths);
}
