/** The plan of `braid sweep`: from a YAML file, from options, or both. */
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { readTextFile } from '../io/text-file.ts';
import { parseYaml } from '../io/yaml.ts';
import { type ConfigFields, readPreset } from '../services/config/presets.ts';
import { parsePlan, type SweepPlan } from '../services/sweeps/plan.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, wholeNumber } from './shared.ts';
import { type TrainOptions, trainFields, yamlValue } from './train-config.ts';

export interface SweepOptions extends Omit<TrainOptions, 'seeds' | 'resume'> {
  readonly name?: string;
  readonly grid?: readonly string[];
  readonly random?: readonly string[];
  readonly trials?: string;
  readonly seeds?: string;
  readonly halving?: string;
}

export interface ReadPlan {
  readonly plan: SweepPlan;
  /** The configuration that all runs have in common. */
  readonly base: ConfigFields;
}

/** Options override the file. */
export function readPlan(
  file: string | undefined,
  options: SweepOptions,
  command: Command,
  context: CommandContext,
): ReadPlan {
  const { preset, config, ...own } = file === undefined ? {} : planFile(file);
  const fields = {
    ...listed(own.fields),
    ...Object.fromEntries((options.grid ?? []).map((text) => fieldOf('--grid', text, gridValues))),
    ...Object.fromEntries((options.random ?? []).map((text) => fieldOf('--random', text, rangeOrValues))),
  };
  const plan = parsePlan(
    {
      name: 'Sweep',
      ...own,
      fields,
      ...(options.name !== undefined && { name: options.name }),
      ...(options.random !== undefined && { search: 'random' }),
      ...(options.trials !== undefined && { trials: wholeNumber('--trials', options.trials) }),
      ...(options.seeds !== undefined && { seeds: seedsOf(options.seeds) }),
      ...(options.halving !== undefined && { halving: halvingOf(options.halving) }),
    },
    file ?? 'command line',
  );
  const inFile = { ...(typeof preset === 'string' ? readPreset(preset, hostPaths()) : {}), ...listed(config) };
  return { plan, base: { ...inFile, ...trainFields(options, command, context) } };
}

function planFile(file: string): Readonly<Record<string, unknown>> {
  const read = readTextFile(file);
  if (read.kind === 'bad') throw inputError('BAD_PLAN', `${file}: ${read.fault.reason}`, 'Give a YAML file of a plan.');
  const { document, faults } = parseYaml(read.value);
  const [fault] = faults;
  if (fault !== undefined) throw inputError('BAD_PLAN', `${file}, line ${fault.line ?? '?'}: ${fault.reason}`);
  return listed(document.toJS());
}

function listed(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function fieldOf<T>(option: string, text: string, values: (field: string, text: string) => T): readonly [string, T] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), values(text.slice(0, at), text.slice(at + 1))];
  throw inputError(
    'BAD_OPTION',
    `Expected ${option} field=values, got "${text}"`,
    'For instance learning_rate=1e-4,2e-4',
  );
}

/** `1e-4,2e-4`; a list in brackets is one value. */
function gridValues(field: string, text: string): readonly unknown[] {
  const value = yamlValue(field, `[${text}]`);
  return Array.isArray(value) ? value : [value];
}

/** `1e-6..1e-3:log` is a range, anything else a list to draw from. */
function rangeOrValues(field: string, text: string): unknown {
  const range = /^(.+?)\.\.(.+?)(?::(log|linear))?$/.exec(text);
  if (range === null) return gridValues(field, text);
  const [, min, max, scale = 'linear'] = range;
  return { min: Number(min), max: Number(max), scale };
}

/** `3` is how many, `42,7` which. */
function seedsOf(text: string): unknown {
  const parts = text.split(',').map((part) => wholeNumber('--seeds', part.trim(), 0));
  return parts.length === 1 ? parts[0] : parts;
}

/** `10` or `10,3`: the first rung's steps, and one in how many continues. */
function halvingOf(text: string): unknown {
  const [min_steps, factor] = text.split(',').map((part) => wholeNumber('--halving', part.trim()));
  return { min_steps, ...(factor !== undefined && { factor }) };
}
