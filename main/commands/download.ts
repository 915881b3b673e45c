/** `braid download`: a model of the Hugging Face Hub, into the workspace; and the same for a Hub name given as --model. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { fetchHubModel, hubModelFolder, parseRepo } from '../services/models/hub.ts';
import { hubOptions } from '../services/models/hub-access.ts';
import { openSecrets } from '../services/workspace/secrets.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { askOnTerminal } from './ask.ts';
import { type CommandContext, commandContext, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';

const HELP = `
A download that was interrupted resumes where it stopped. For models that require it, the Hugging Face token is the one
in Braid's settings, HF_TOKEN, or the one of "hf auth login".`;

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
  const workspace = openWorkspace({ workspace: context.workspace.root });
  const options = hubOptions(openSecrets());
  return followJob(`downloading ${model}`, context, ({ signal, onProgress }) =>
    fetchHubModel(workspace, { repo: model, revision }, options, { signal, progress: onProgress }),
  );
}

/** `owner/name`, as the Hub names models. */
const HUB_NAME = /^[\w][\w.-]*\/[\w][\w.-]*$/;

/**
 * Before any command with --model: a Hub name that isn't a folder here becomes the folder of the workspace that it was
 * downloaded to. If it wasn't yet, the person at the terminal is asked; a script fails with the command to run.
 */
export async function useHubModel(command: Command, ask: (question: string) => Promise<boolean> = askOnTerminal) {
  const { model } = command.opts<{ readonly model?: unknown }>();
  if (typeof model !== 'string' || !HUB_NAME.test(model) || existsSync(model)) return;
  const context = commandContext(command);
  const folder = hubModelFolder(context.workspace, parseRepo(model));
  if (existsSync(folder)) return void command.setOptionValue('model', folder);
  const isWanted = await ask(`${model} isn't a folder here. Download it from the Hugging Face Hub? [y/N] `);
  if (!isWanted)
    throw inputError(
      'MODEL_MISSING',
      `${model}: there is no such folder, and no model of that name has been downloaded`,
      `Give the path of a model folder, or download it from the Hugging Face Hub: braid download ${model}`,
    );
  const got = await download(model, 'main', context);
  if (got === null) throw inputError('INTERRUPTED', 'The download was interrupted', 'The same command resumes it.');
  command.setOptionValue('model', got);
}
