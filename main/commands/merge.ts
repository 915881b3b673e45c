/** `braid merge`: a checkpoint as a model folder that other tools load, and as GGUF. */
import { type Command, Option } from 'commander';
import { type MergeResult, mergeModel } from '../services/merge/merge.ts';
import { formatBytes } from '../text/format.ts';
import { DTYPES, type Dtype, GGUF_CHOICES, type GgufChoice } from '../trainer/export-types.ts';
import { hostPaths } from './host-paths.ts';
import { backendChoice, type CommandContext, commandContext, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';

interface MergeCommandOptions {
  readonly model: string;
  readonly output: string;
  readonly base?: string;
  readonly dtype?: Dtype;
  readonly gguf?: GgufChoice;
  readonly dataset?: string;
}

const HELP = `
The adapter of a LoRA checkpoint is merged into its base model. The exported model is then loaded again and answers
prompts greedily as the checkpoint does; the last lines say for how many of them it does. With weights of 16 bits or
Q8_0 a few may differ. A GGUF file is checked by llama.cpp if the package node-llama-cpp is installed.`;

/** Adds `merge` to the program. */
export function registerMerge(program: Command): void {
  withCommonOptions(program.command('merge'))
    .requiredOption('--model <dir>', 'checkpoint, model folder, or "tiny" for the bundled model')
    .requiredOption('--output <dir>', 'new folder for the merged model')
    .option('--base <dir>', "base model of a LoRA checkpoint, if it isn't where the checkpoint says")
    .addOption(new Option('--dtype <type>', "type of the weights (default: the base model's)").choices(DTYPES))
    .addOption(new Option('--gguf <type>', 'write a GGUF file and a Modelfile as well').choices(GGUF_CHOICES))
    .option('--dataset <file>', 'held-out records (JSONL) to compare on (default: 16 pairs of the bundled texts)')
    .addHelpText('after', HELP)
    .action((options: MergeCommandOptions, command: Command) => merge(options, command));
}

async function merge(options: MergeCommandOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const { model, output, base, dtype, gguf, dataset } = options;
  const request = {
    ...{ model, output, paths: hostPaths(), backend: backendChoice(context.backend), threads: context.threads },
    ...(base === undefined ? {} : { base }),
    ...(dtype === undefined ? {} : { dtype }),
    ...(gguf === undefined ? {} : { gguf }),
    ...(dataset === undefined ? {} : { dataset }),
  };
  const done = await followJob('comparing', context, (job) => mergeModel({ ...request, ...job }));
  if (done === null) return;
  print(context, done);
  context.out(done);
}

function print(context: CommandContext, { folder, dtype, files, agreement, gguf }: MergeResult): void {
  context.print(`${folder} (${dtype}):`);
  for (const { name, bytes } of files) context.print(`  ${name}${bytes < 2 ** 20 ? '' : `, ${formatBytes(bytes)}`}`);
  context.print(`Loaded again, it answers ${agreement.equal} of ${agreement.prompts} prompts as the checkpoint does.`);
  if (gguf === null) return;
  context.print(
    'unproved' in gguf
      ? `The GGUF file wasn't checked: ${gguf.unproved}.`
      : `llama.cpp answers ${gguf.equal} of ${gguf.prompts} prompts from the GGUF file as the checkpoint does.`,
  );
}
