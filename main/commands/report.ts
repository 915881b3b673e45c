/** `braid report`: a result as one HTML file, which opens anywhere without a network. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { inputError } from '../errors.ts';
import { writeFileAtomic } from '../io/atomic-write.ts';
import { makeReport, type ReportSubject } from '../services/reports/make.ts';
import { openForReading } from '../services/workspace/read-only.ts';
import { formatBytes } from '../text/format.ts';
import { hostPaths } from './host-paths.ts';
import { commandContext, wholeNumber, withCommonOptions } from './shared.ts';

interface ReportOptions {
  readonly run?: string;
  readonly comparison?: string;
  readonly sweep?: string;
  readonly replies?: true;
  readonly curriculum?: true;
  readonly output: string;
  readonly texts: boolean;
}

/** Adds `report` to the program. */
export function registerReport(program: Command): void {
  withCommonOptions(program.command('report'))
    .option('--run <id>', 'of a run')
    .option('--comparison <id>', 'of a comparison: its number in the app, or the folder that braid compare wrote')
    .option('--sweep <id>', 'of a sweep')
    .addOption(new Option('--replies', 'of the newest comparison of reply methods'))
    .addOption(new Option('--curriculum', 'of the whole curriculum'))
    .requiredOption('--output <file>', 'the HTML file')
    .option('--no-texts', 'leave out prompts, targets, completions and notes')
    .action((options: ReportOptions, command: Command) => report(options, command));
}

function report(options: ReportOptions, command: Command): void {
  const context = commandContext(command);
  const subject = subjectOf(options);
  const store = openForReading(context.workspace);
  try {
    const place = { store, workspace: context.workspace, paths: hostPaths() };
    const { html, report: made } = makeReport(place, subject, { texts: options.texts });
    const file = resolve(options.output);
    writeFileAtomic(file, html);
    const bytes = statSync(file).size;
    context.print(`${made.title}: ${file}, ${formatBytes(bytes)}`);
    context.out({ file, bytes, kind: made.content.kind, title: made.title, texts: made.hasTexts });
  } finally {
    store.close();
  }
}

function subjectOf({ run, comparison, sweep, replies, curriculum }: ReportOptions): ReportSubject {
  const given: readonly ReportSubject[] = [
    ...(run === undefined ? [] : [{ of: 'run', id: wholeNumber('--run', run) } as const]),
    ...(comparison === undefined ? [] : [comparedIn(comparison)]),
    ...(sweep === undefined ? [] : [{ of: 'sweep', id: wholeNumber('--sweep', sweep) } as const]),
    ...(replies === undefined ? [] : [{ of: 'replies' } as const]),
    ...(curriculum === undefined ? [] : [{ of: 'curriculum' } as const]),
  ];
  const [subject] = given;
  if (subject !== undefined && given.length === 1) return subject;
  throw inputError(
    'BAD_OPTION',
    `Expected one of --run, --comparison, --sweep, --replies and --curriculum, got ${given.length}`,
    'Say what the report is of: braid report --run 12 --output report.html',
  );
}

function comparedIn(value: string): ReportSubject {
  if (/^\d+$/.test(value)) return { of: 'comparison', id: wholeNumber('--comparison', value) };
  const folder = resolve(value);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return { of: 'folder', folder };
  throw inputError('NO_FOLDER', `There is no folder ${folder}`, 'Name a comparison by its number, or its folder.');
}
