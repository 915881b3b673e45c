/** `braid import-run`: a run that TRL trained, into the history. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfigChoice } from '../services/config/presets.ts';
import { importRun } from '../services/trl/import-run.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import { parseConfig } from '../trainer/config/config.ts';
import { hostPaths } from './host-paths.ts';
import { commandContext, withCommonOptions } from './shared.ts';

interface ImportRunOptions {
  readonly name?: string;
  readonly config?: string;
}

/** Adds `import-run` to the program. */
export function registerImportRun(program: Command): void {
  withCommonOptions(program.command('import-run <dir>'))
    .option('--name <name>', 'name of the run')
    .option('--config <file>', 'its configuration, where it was not exported by `export --for trl`')
    .action((dir: string, options: ImportRunOptions, command: Command) => importFrom(dir, options, command));
}

async function importFrom(dir: string, { name, config }: ImportRunOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const store = openStore(openWorkspace({ workspace: context.workspace.root }).database);
  try {
    const given = config === undefined ? {} : { config: parseConfig(readConfigChoice(config, hostPaths()), config) };
    const run = await importRun(store, resolve(dir), {
      paths: hostPaths(),
      ...given,
      ...(name === undefined ? {} : { name }),
    });
    context.print(
      `Run ${run.run_id} (${run.name}): steps ${run.steps}, completions ${run.samples}, evaluations ${run.evaluations}, checkpoints ${run.checkpoints}. Its folder: ${run.folder}`,
    );
    for (const note of run.notes) context.print(note);
    context.out(run);
  } finally {
    store.close();
  }
}
