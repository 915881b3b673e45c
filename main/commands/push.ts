/** `braid push`: a trained model with its card, or a dataset, to the Hugging Face Hub. */
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { inputError } from '../errors.ts';
import { mergeModel } from '../services/merge/merge.ts';
import { parseRepo } from '../services/models/hub.ts';
import { hubOptions } from '../services/models/hub-access.ts';
import { ownModel } from '../services/models/resolve.ts';
import { planDatasetPush } from '../services/publish/dataset-plan.ts';
import { type PushPlan, planModelPush } from '../services/publish/plan.ts';
import { pushToHub } from '../services/publish/push.ts';
import { openForReading } from '../services/workspace/read-only.ts';
import { openSecrets } from '../services/workspace/secrets.ts';
import { counted, formatBytes } from '../text/format.ts';
import { DTYPES, type Dtype, GGUF_CHOICES, type GgufChoice } from '../trainer/protocol/export-types.ts';
import { hostPaths } from './host-paths.ts';
import { namedCheckpoint } from './named-checkpoint.ts';
import { backendChoice, type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';

interface PushOptions {
  readonly to: string;
  readonly model?: string;
  readonly dataset?: string;
  readonly run?: string;
  readonly merged?: true;
  readonly dtype?: Dtype;
  readonly gguf?: GgufChoice;
  readonly baseModel?: string;
  readonly license?: string;
  readonly public?: true;
  readonly texts: boolean;
  readonly dryRun?: true;
}

const HELP = `
The model's card is made from its run: base model, data with its hash, held-out table with intervals, curves,
configuration, how to load it. A new repository is private; one that is public is refused without --public. The token is
that of "braid download". What the repository has already isn't sent again, so that an interrupted push resumes.`;

/** Adds `push` to the program. */
export function registerPush(program: Command): void {
  withCommonOptions(program.command('push'))
    .requiredOption('--to <owner/name>', 'the repository; made if there is none')
    .option('--model <dir>', 'checkpoint, name of a run, or model folder')
    .option('--dataset <file>', 'records (JSONL) instead of a model; those held out beside it go along')
    .option('--run <id>', "the run for the card, where the folder isn't one of its checkpoints")
    .addOption(new Option('--merged', 'merge the adapter into its base model first'))
    .addOption(new Option('--dtype <type>', '--merged: type of the weights').choices(DTYPES))
    .addOption(
      new Option('--gguf <type>', '--merged: with a GGUF file, for Ollama and llama.cpp').choices(GGUF_CHOICES),
    )
    .option('--base-model <owner/name>', "the base model's name on the Hub, where its folder doesn't say it")
    .option('--license <id>', "as the Hub names it, such as apache-2.0 (default: the base model's)")
    .addOption(new Option('--public', 'for everybody to read'))
    .option('--no-texts', 'leave out prompts, targets, completions and notes')
    .addOption(new Option('--dry-run', 'show every file and the card, send nothing'))
    .addHelpText('after', HELP)
    .action((options: PushOptions, command: Command) => push(options, command));
}

async function push(options: PushOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const repo = parseRepo(options.to);
  refuseMixed(options);
  const license = options.license ?? null;
  if (options.dataset !== undefined)
    return send(await planDatasetPush({ repo, file: resolve(options.dataset), license }), options, context);
  const given = namedCheckpoint(context, options.model ?? '');
  const folder = existsSync(resolve(given)) ? resolve(given) : (ownModel(given, hostPaths()) ?? resolve(given));
  if (options.merged === undefined) return send(await modelPlan(folder, folder, options, context), options, context);
  // Beside the workspace's models, on the disk that holds such files already.
  const merged = join(context.workspace.root, '.push', repo.replace('/', '--'));
  try {
    rmSync(merged, { recursive: true, force: true });
    const done = await followJob('merging', context, (job) =>
      mergeModel({ ...mergeOf(folder, merged, options, context), ...job }),
    );
    if (done !== null) await send(await modelPlan(merged, folder, options, context), options, context);
  } finally {
    rmSync(join(merged, '..'), { recursive: true, force: true });
  }
}

function refuseMixed({ model, dataset, merged, dtype, gguf, run, texts }: PushOptions): void {
  if ((model === undefined) === (dataset === undefined))
    throw inputError('BAD_OPTION', 'Expected one of --model and --dataset', 'Say what to push: --model CHECKPOINT.');
  if (merged === undefined && (dtype ?? gguf) !== undefined)
    throw inputError('BAD_OPTION', 'Expected --dtype and --gguf with --merged', 'Add --merged, or leave them out.');
  if (dataset !== undefined && (merged !== undefined || run !== undefined || !texts))
    throw inputError('BAD_OPTION', 'Expected --dataset without --merged, --run and --no-texts', 'Leave them out.');
}

function mergeOf(model: string, output: string, { dtype, gguf }: PushOptions, context: CommandContext) {
  return {
    model,
    output,
    paths: hostPaths(),
    backend: backendChoice(context.backend),
    threads: context.threads,
    ...(dtype !== undefined && { dtype }),
    ...(gguf !== undefined && { gguf }),
  };
}

/** `trained`: the checkpoint that tells the run, where `folder` was merged from it. */
async function modelPlan(
  folder: string,
  trained: string,
  options: PushOptions,
  context: CommandContext,
): Promise<PushPlan> {
  const store = openForReading(context.workspace);
  try {
    const place = { store, workspace: context.workspace, paths: hostPaths() };
    const runId = options.run === undefined ? null : wholeNumber('--run', options.run);
    const { license = null, texts, to } = options;
    const baseModel = options.baseModel === undefined ? null : parseRepo(options.baseModel);
    return await planModelPush(place, { repo: parseRepo(to), folder, trained, runId, texts, license, baseModel });
  } finally {
    store.close();
  }
}

async function send(plan: PushPlan, options: PushOptions, context: CommandContext): Promise<void> {
  const { repo, type, files } = plan;
  const notes = plan.notes.map(({ message, option }) => `${message} Say it with --${option}.`);
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const listed = files.map(({ path, bytes }) => ({ path, bytes }));
  const whose = options.public === undefined ? 'private where it is new' : 'public';
  context.print(`${repo} (${type}, ${whose}), ${counted(files.length, 'file')}, ${formatBytes(total)}:`);
  for (const { path, bytes } of listed) context.print(`  ${path}, ${formatBytes(bytes)}`);
  for (const note of notes) context.print(`[!] ${note}`);
  if (options.dryRun !== undefined) {
    const card = files.find(({ path }) => path === 'README.md')?.content;
    const text = Buffer.isBuffer(card) ? card.toString('utf8') : '';
    context.print(`\n${text}`);
    context.out({ repo, type, sent: false, files: listed, notes, card: text });
    return;
  }
  const hub = hubOptions(openSecrets());
  const isPublic = options.public !== undefined;
  const done = await followJob(`pushing to ${repo}`, context, ({ signal, onProgress }) =>
    pushToHub(plan, hub, { isPublic, signal, onProgress }),
  );
  if (done === null) return;
  const { url, sent, unchanged } = done;
  const rest = unchanged.length === 0 ? '' : `; ${counted(unchanged.length, 'file')} there already`;
  context.print(`${url}: ${counted(sent.length, 'file')} sent${rest}`);
  context.out({ repo, type, sent: true, url, files: listed, unchanged, notes });
}
