/** `braid dataset import`: records for any task from JSONL, JSON, CSV, parquet, or the Hugging Face Hub. */
import { rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { fetchHubDataset } from '../services/data-import/hub-download.ts';
import { hubFolderName, isHubSource, parseHubDataset } from '../services/data-import/hub-name.ts';
import { datasetOptions, heldOutSplits } from '../services/data-import/hub-preview.ts';
import { importTarget, nameOfSource, recordImport } from '../services/data-import/import-dataset.ts';
import { planHubImport } from '../services/data-import/plan-hub-import.ts';
import { splitFiles } from '../services/data-import/split-files.ts';
import { type Mapping, parseMapping, valueAt } from '../services/datasets/import/mapping.ts';
import {
  type ImportOptions,
  type ImportPlan,
  planImport,
  type RowOptions,
  writeImport,
} from '../services/datasets/import/plan.ts';
import type { Filter } from '../services/datasets/import/select.ts';
import { hubOptions } from '../services/models/hub-access.ts';
import { findTask } from '../services/tasks/find-task.ts';
import type { JobOptions } from '../services/trainer-process/job.ts';
import { openSecrets } from '../services/workspace/secrets.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import { counted } from '../text/format.ts';
import { hostPaths } from './host-paths.ts';
import { modelToCheck } from './model-to-check.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';

interface ImportCommandOptions {
  readonly task: string;
  readonly map: readonly string[];
  readonly name?: string;
  readonly replace?: boolean;
  readonly split: string;
  readonly testSplit?: string;
  readonly testFile?: string;
  readonly testShare: string;
  readonly splitBy?: string;
  readonly filter: readonly string[];
  readonly sample?: string;
  readonly dedupe?: boolean;
  readonly preview?: boolean;
  readonly model?: string;
}

/** Adds `import` to `dataset`. */
export function registerDatasetImport(dataset: Command): void {
  withCommonOptions(dataset.command('import <source>'))
    .description(
      'import records for a task: a file (JSONL, JSON, CSV, parquet; .gz, .zst), a folder by split, or hf:OWNER/NAME[/CONFIG][@REVISION]',
    )
    .requiredOption('--task <name>', 'whose records they become: a name or a folder')
    .option('--map <field=column...>', 'columns of the fields; others are guessed by name', [])
    .option('--name <name>', "name of the dataset (default: the source's)")
    .option('--replace', 'replace a dataset of that name')
    .option('--split <name>', 'split of a folder or Hub dataset', 'train')
    .option('--test-split <name>', 'its held-out split (default: a share of the rows is held out)')
    .option('--test-file <file>', 'file of the held-out rows')
    .option('--test-share <x>', 'held-out share of the rows', '0.1')
    .option('--split-by <column>', 'rows with the same value stay on one side')
    .option('--filter <column=value...>', 'only rows with this value', [])
    .option('--sample <n>', 'only so many rows, drawn by the seed')
    .option('--dedupe', 'drop rows whose fields are the same as those of an earlier one')
    .option('--model <dir>', "model whose tokenizer the words are checked with (default: the curriculum's)")
    .option(
      '--preview',
      'show what would be imported, and write nothing; of a Hub dataset its first rows, without downloading it',
    )
    .action((source: string, _: object, command: Command) => importData(source, command));
}

/** What `dataset` also has is read by it, wherever it stands; what only `dataset` has would change nothing here. */
function givenOptions(command: Command): ImportCommandOptions {
  const known = command.options.map((option) => option.long);
  const foreign = command.parent?.options.find(
    (option) => !known.includes(option.long) && command.parent?.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (foreign === undefined) return command.optsWithGlobals<ImportCommandOptions>();
  const remedy = '`braid dataset import --help` lists what it has.';
  throw inputError('BAD_OPTION', `\`dataset import\` has no ${foreign.long ?? foreign.flags}`, remedy);
}

async function importData(source: string, command: Command): Promise<void> {
  const options = givenOptions(command);
  const context = commandContext(command);
  const workspace = openWorkspace({ workspace: context.workspace.root });
  const task = findTask(options.task, { workspace: workspace.root, paths: hostPaths() });
  const model = modelToCheck(context, options.model);
  const rows: RowOptions = {
    model,
    task,
    map: parseMapping(options.map) as Mapping,
    filters: options.filter.map(filterOf),
    sample: options.sample === undefined ? null : wholeNumber('--sample', options.sample),
    dedupe: options.dedupe === true,
    splitBy: options.splitBy ?? null,
    testShare: shareOf(options.testShare),
    seed: context.seed,
  };
  if (options.preview === true) return preview(source, options, rows, context);
  const hub = isHubSource(source) ? join(workspace.datasets, '.hub', hubFolderName(source)) : null;
  const files = hub === null ? localFiles(source, options) : await hubFiles(source, options, hub, context);
  if (files === null) return;
  const given: ImportOptions = { ...files, ...rows };
  const store = openStore(workspace.database);
  try {
    const target = importTarget({ store, workspace }, options.name ?? nameOfSource(source), options.replace === true);
    const written = await writeImport({ ...given, target });
    const id = recordImport(store, task, context.seed, written);
    if (hub !== null) rmSync(hub, { recursive: true, force: true });
    const { counts, leakage, mapping, quoted, unwritable } = written;
    context.print(`${written.files.train}: ${counted(counts.train, 'record')}; ${written.files.test}: ${counts.test}`);
    if (counts.duplicates > 0)
      context.print(`${counted(counts.duplicates, 'duplicate was', 'duplicates were')} dropped`);
    const shared = sharedInWords(leakage, counts.test, rows);
    for (const warning of [shared, ...written.notes, quoted, unwritable]) if (warning !== null) context.say(warning);
    context.out({
      dataset_id: id,
      task: typeof task === 'string' ? task : task.name,
      mapping,
      file: written.files.train,
      test_file: written.files.test,
      rows: counts.rows,
      left_out: counts.leftOut,
      duplicates: counts.duplicates,
      train: counts.train,
      test: counts.test,
      held_out_clean: leakage?.clean ?? null,
      unwritable,
    });
  } finally {
    store.close();
  }
}

async function preview(
  source: string,
  options: ImportCommandOptions,
  rows: RowOptions,
  context: CommandContext,
): Promise<void> {
  const { plan, ...hub } = isHubSource(source)
    ? await planOnHub(source, options, rows, context)
    : { plan: await planImport({ ...localFiles(source, options), ...rows }) };
  const { columns, mapping, counts, problem, faults, train, leakage, quoted, unwritable } = plan;
  context.print(`${counted(counts.rows, 'row')} with ${columns.join(', ')}`);
  for (const [field, column] of Object.entries(mapping))
    context.print(`${field} = ${column}${readNumber(plan, field, column)}`);
  if (problem !== null) throw inputError('BAD_MAPPING', problem.message, problem.remedy ?? undefined);
  for (const fault of faults) context.print(`[!] ${fault}`);
  const shared = sharedInWords(leakage, counts.test, rows);
  for (const warning of [shared, ...plan.notes, quoted, unwritable]) if (warning !== null) context.say(warning);
  const [first] = train;
  if (first !== undefined) context.print(`\n${first.prompt}\n`);
  if (first !== undefined && first.reference !== '') context.print(`Target: ${first.reference}\n`);
  context.print(`${counted(counts.train, 'training record')}, ${counts.test} held out, ${counts.faults} with faults`);
  context.out({ columns, mapping, ...counts, faults, first: first ?? null, ...hub });
  if (counts.faults > 0) process.exitCode = 2;
}

/** What training and held-out records share, and what may help: answers differ, so prompts repeat without repeated rows. */
function sharedInWords(
  leakage: ImportPlan['leakage'],
  heldOut: number,
  { splitBy, dedupe }: Pick<RowOptions, 'splitBy' | 'dedupe'>,
): string | null {
  if (leakage === null || leakage.clean) return null;
  const { overlaps, shared_titles: prompts } = leakage;
  const whole =
    prompts.length === 0 ? '' : `, ${counted(prompts.length, 'whole prompt is', 'whole prompts are')} on both sides`;
  const ways = [
    ...(splitBy === null || prompts.length > 0 ? ['--split-by a column of the prompt keeps its rows on one side'] : []),
    ...(dedupe ? [] : ['--dedupe drops repeated rows']),
  ];
  return [`${overlaps.length} of ${counted(heldOut, 'held-out record')} share words with training records${whole}`]
    .concat(ways)
    .join('; ');
}

/** What a number was read as, where it isn't written as one. */
function readNumber({ first, rows }: ImportPlan, field: string, column: string): string {
  const [value, raw] = [first[field], valueAt(rows[0] ?? {}, column)];
  return typeof value === 'number' && typeof raw === 'string' && raw !== String(value)
    ? ` (${value} in the first row)`
    : '';
}

/** The plan of a Hub dataset's first rows, and what else is known of it. */
async function planOnHub(
  source: string,
  { split, testSplit }: ImportCommandOptions,
  rows: RowOptions,
  context: CommandContext,
): Promise<{ readonly plan: ImportPlan; readonly config: string; readonly splits: readonly string[] }> {
  const dataset = parseHubDataset(source);
  const hub = datasetOptions(openSecrets());
  const { plan, preview: shown } = await planHubImport(dataset, { split, testSplit: testSplit ?? null }, rows, hub);
  const { config, shortened } = shown;
  const splits = shown.splits.filter((one) => one.config === config).map((one) => one.split);
  context.print(`${dataset.repo}, ${config}: the first rows of ${split}; nothing is downloaded`);
  if (dataset.revision !== null) context.say(`The preview shows the newest revision, not ${dataset.revision}.`);
  if (shortened > 0)
    context.say(`The Hub shortens long values in ${shortened} of these rows; the import reads them whole.`);
  const [offered] = heldOutSplits(shown);
  if (testSplit === undefined && offered !== undefined)
    context.say(`It has a split "${offered}": --test-split ${offered} holds it out instead of a share of the rows.`);
  return { plan, config, splits };
}

type Files = Pick<ImportOptions, 'files' | 'testFiles'>;

function localFiles(source: string, { testFile, split, testSplit }: ImportCommandOptions): Files {
  const place = resolve(source);
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder && testSplit !== undefined)
    throw inputError(
      'BAD_OPTION',
      `--test-split is of a folder or a Hub dataset, and ${source} is neither`,
      'Name the held-out file by --test-file.',
    );
  const held = testSplit === undefined ? [] : splitFiles(place, testSplit);
  return {
    files: isFolder ? splitFiles(place, split) : [place],
    testFiles: testFile === undefined ? held : [resolve(testFile)],
  };
}

/** null: it was interrupted. */
async function hubFiles(
  source: string,
  { split, testSplit }: ImportCommandOptions,
  folder: string,
  context: CommandContext,
): Promise<Files | null> {
  const dataset = parseHubDataset(source);
  const options = hubOptions(openSecrets());
  return followJob('downloading', context, async ({ signal, onProgress }: Required<JobOptions>) => {
    const job = { signal, progress: onProgress };
    const files = await fetchHubDataset(dataset, split, folder, options, job);
    const testFiles = testSplit === undefined ? [] : await fetchHubDataset(dataset, testSplit, folder, options, job);
    return { files, testFiles };
  });
}

function filterOf(text: string): Filter {
  const at = text.indexOf('=');
  if (at > 0) return { column: text.slice(0, at), value: text.slice(at + 1) };
  throw inputError('BAD_OPTION', `Expected --filter column=value, got "${text}"`);
}

function shareOf(text: string): number {
  const share = Number(text);
  if (text.trim() !== '' && share >= 0 && share < 1) return share;
  throw inputError('BAD_OPTION', `Expected --test-share to be at least 0 and below 1, got "${text}"`);
}
