/** `braid download`: a model of the Hugging Face Hub, into the workspace; and the same for a Hub name given to another command. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { fetchHubModel, parseRepo } from '../services/models/hub.ts';
import { hubOptions } from '../services/models/hub-access.ts';
import {
  HUB_NAME,
  hubModelFolder,
  notDownloaded,
  recordedHubModel,
  refuseOtherHubModel,
} from '../services/models/hub-origin.ts';
import { checkpointOfRun } from '../services/runs/from-checkpoint.ts';
import { openSecrets } from '../services/workspace/secrets.ts';
import { locateWorkspace, makeWorkspace, type Workspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import { askOnTerminal } from './ask.ts';
import { useModelsOf } from './host-paths.ts';
import { type CommandContext, commandContext, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';

const HELP = `
A download that was interrupted resumes where it stopped. For models that require it, the Hugging Face token is HF_TOKEN
or the one of "hf auth login". A token in Braid's settings counts, too, if "braid serve" has kept it; one that the
desktop app has encrypted can be read by the app only.`;

/** Adds `download` to the program. */
export function registerDownload(program: Command): void {
  withCommonOptions(program.command('download'))
    .argument('<model>', 'its name, for instance HuggingFaceTB/SmolLM2-135M-Instruct')
    .option('--revision <name>', 'branch, tag or commit', 'main')
    .addHelpText('after', HELP)
    .action(async (model: string, { revision }: { readonly revision: string }, command: Command) => {
      const context = commandContext(command);
      const folder = await download(model, revision, context);
      if (folder === null) return;
      context.print(`${folder}: use it as --model ${model}`);
      context.out({ model, revision, folder });
    });
}

/** The folder; null if it was interrupted. */
async function download(model: string, revision: string, context: CommandContext): Promise<string | null> {
  const workspace = makeWorkspace({ workspace: context.workspace.root });
  const options = hubOptions(openSecrets());
  return followJob(`downloading ${model}`, context, ({ signal, onProgress }) =>
    fetchHubModel(workspace, { repo: model, revision }, options, { signal, progress: onProgress }),
  );
}

type Ask = (question: string) => Promise<boolean>;

/** The options that name one model. */
const ONE = ['model', 'base', 'baseline'] as const;

/**
 * Before any command: a Hub name given as a model that isn't a folder here becomes the folder of the workspace that it
 * was downloaded to. If it wasn't yet, the person at the terminal is asked; a script fails with the command to run.
 */
export async function useHubModels(command: Command, ask: Ask = askOnTerminal): Promise<void> {
  const options = command.opts<Readonly<Record<string, unknown>>>();
  const { workspace } = options;
  useModelsOf(locateWorkspace(typeof workspace === 'string' ? { workspace } : {}).models);
  for (const name of ONE) {
    const given = options[name];
    if (typeof given === 'string') command.setOptionValue(name, await folderFor(given, command, ask));
  }
  const { trained } = options;
  if (!Array.isArray(trained)) return;
  const folders: string[] = [];
  for (const given of trained) folders.push(await folderFor(String(given), command, ask));
  command.setOptionValue('trained', folders);
}

/** `given` may begin with a name of its own: NAME=OWNER/MODEL. */
async function folderFor(given: string, command: Command, ask: Ask): Promise<string> {
  const [, name = '', model = given] = /^([^=/\\]+=)?(.+)$/.exec(given) ?? [];
  if (!HUB_NAME.test(model) || existsSync(model)) return given;
  const context = commandContext(command);
  const repo = parseRepo(model);
  const folder = hubModelFolder(context.workspace, repo);
  if (existsSync(folder)) {
    refuseOtherHubModel(folder, repo);
    if (recordedHubModel(folder) === null)
      context.say(`${model}: using ${folder}, which doesn't say whose model it is.`);
    return `${name}${folder}`;
  }
  // A path from the workspace, as presets name models.
  if (existsSync(join(context.workspace.root, model))) return given;
  refuseRun(model, context.workspace);
  const isWanted = await ask(`${model} isn't a folder here. Download it from the Hugging Face Hub? [y/N] `);
  if (!isWanted) throw notDownloaded(model, 'download it from the Hugging Face Hub');
  const got = await download(model, 'main', context);
  if (got === null) throw inputError('INTERRUPTED', 'The download was interrupted', 'The same command resumes it.');
  return `${name}${got}`;
}

/** Runs of several seeds are called like models of the Hub (EXPERIMENT/seed_42). */
function refuseRun(name: string, workspace: Workspace): void {
  if (!existsSync(workspace.database)) return;
  const store = openStore(workspace.database);
  try {
    const checkpoint = checkpointOfRun(store, name);
    if (checkpoint === null) return;
    throw inputError(
      'MODEL_MISSING',
      `Expected a model folder or a checkpoint, got the name of a run, "${name}"`,
      `Give one of its checkpoints; the newest is ${checkpoint}`,
    );
  } finally {
    store.close();
  }
}
