/** `braid config`: a preset or a run's configuration as YAML, to be edited and given to `train --config`. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { writeFileAtomic } from '../files.ts';
import { presetNames, readPreset } from '../services/presets.ts';
import { requireRun } from '../services/runs.ts';
import { openStore } from '../store/index.ts';
import { parseConfig } from '../trainer/config.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';

interface ConfigCommandOptions {
  readonly run?: string;
  readonly preset?: string;
  readonly output?: string;
}

/** Adds `config` to the program. */
export function registerConfig(program: Command): void {
  withCommonOptions(program.command('config'))
    .description(
      'print a whole configuration as YAML: of a run, or of a preset; without either, the names of the presets',
    )
    .option('--run <id>', 'the configuration that a run was trained with')
    .option('--preset <name>', 'a preset that ships with the program, with every field')
    .option('--output <file>', 'write it there instead')
    .action((options: ConfigCommandOptions, command: Command) => config(options, command));
}

function config(options: ConfigCommandOptions, command: Command): void {
  const context = commandContext(command);
  if (options.run === undefined && options.preset === undefined) {
    const presets = presetNames(hostPaths());
    for (const name of presets) context.print(name);
    context.out({ presets });
    return;
  }
  const fields = options.run === undefined ? presetFields(options.preset ?? '') : runFields(options.run, context);
  const yaml = stringify(fields, { lineWidth: 0 });
  if (options.output === undefined) context.print(yaml.trimEnd());
  else writeFileAtomic(resolve(options.output), yaml, { what: 'the configuration' });
  context.out({ config: fields, ...(options.output === undefined ? {} : { file: resolve(options.output) }) });
}

function presetFields(name: string) {
  return parseConfig(readPreset(name, hostPaths()), name);
}

function runFields(id: string, context: CommandContext) {
  const store = openStore(context.workspace.database);
  try {
    return parseConfig(JSON.parse(requireRun(store, wholeNumber('--run', id)).configJson), `run ${id}`);
  } finally {
    store.close();
  }
}
