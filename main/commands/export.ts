/** `braid export`: a run for TensorBoard, spreadsheets and data frames. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { exportRun } from '../services/runs/exports/exports.ts';
import { openStore } from '../store/index.ts';
import { commandContext, wholeNumber, withCommonOptions } from './shared.ts';

/** Adds `export` to the program. */
export function registerExport(program: Command): void {
  withCommonOptions(program.command('export'))
    .description('export a run for other tools: TensorBoard events, metrics.csv, completions.parquet')
    .requiredOption('--run <id>', 'the run')
    .requiredOption('--output <dir>', 'output folder')
    .action((options: { readonly run: string; readonly output: string }, command: Command) => {
      const context = commandContext(command);
      const store = openStore(context.workspace.database);
      try {
        const files = exportRun(store, wholeNumber('--run', options.run), resolve(options.output));
        context.print(`${files.steps} steps: ${files.tensorboard}, ${files.metrics}`);
        context.print(
          files.completions === null
            ? 'No completions were stored.'
            : `${files.samples} completions: ${files.completions}`,
        );
        context.out(files);
      } finally {
        store.close();
      }
    });
}
