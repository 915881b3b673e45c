/** `braid config`: a preset or a run's configuration as YAML, to edit and pass to `train --config`. */

import { resolve } from 'node:path';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { writeFileAtomic } from '../io/atomic-write.ts';
import { presetNames, readPreset } from '../services/config/presets.ts';
import { requireRun } from '../services/runs/runs.ts';
import { savedConfig } from '../services/runs/saved-config.ts';
import { openUpToDate } from '../services/workspace/read-only.ts';
import { visible } from '../text/visible.ts';
import { parseConfig } from '../trainer/config/config.ts';
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
    .option('--run <id>', 'the configuration of a run')
    .option('--preset <name>', 'a bundled preset, with every field')
    .option('--output <file>', 'write to this file instead')
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
  if (options.output === undefined) context.printRaw(process.stdout.isTTY ? visible(yaml.trimEnd()) : yaml.trimEnd());
  else writeFileAtomic(resolve(options.output), yaml, { what: 'the configuration' });
  context.out({ config: fields, ...(options.output === undefined ? {} : { file: resolve(options.output) }) });
}

function presetFields(name: string) {
  return parseConfig(readPreset(name, hostPaths()), name);
}

function runFields(id: string, context: CommandContext) {
  const store = openUpToDate(context.workspace);
  try {
    return savedConfig(requireRun(store, wholeNumber('--run', id)));
  } finally {
    store.close();
  }
}
