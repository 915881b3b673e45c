/** `braid merge`: a checkpoint as a model folder that other tools load, and as GGUF. */
import { type Command, Option } from 'commander';
import { missedEndsWords, readBackWords, roundingWords } from '../services/merge/export-model.ts';
import { type MergeOptions, type MergeResult, mergeModel } from '../services/merge/merge.ts';
import { sourceWords } from '../services/merge/proof-prompts.ts';
import { counted, formatBytes } from '../text/format.ts';
import { DTYPES, GGUF_CHOICES } from '../trainer/protocol/export-types.ts';
import { hostPaths } from './host-paths.ts';
import { namedCheckpoint } from './named-checkpoint.ts';
import { backendChoice, type CommandContext, commandContext, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';

type MergeCommandOptions = Pick<MergeOptions, 'model' | 'output' | 'base' | 'dtype' | 'gguf' | 'dataset'>;

const HELP = `
The adapter of a LoRA checkpoint is merged into its base model. The exported model is then loaded again and answers
prompts greedily as the checkpoint does; the last lines say for how many of them it does. The prompts are held-out ones
of the checkpoint's run, read and asked by its task (nothing is scored); without them, of its training; for other models
they are pairs of the bundled texts. With weights of 16 bits or
Q8_0 a few may differ; --dtype float32 keeps what was trained. A GGUF file is read back: its weights must be the merged
ones, to the precision of its type. If the package node-llama-cpp is installed, llama.cpp answers from it too, and cuts the
prompts, with the chat template around them, into tokens, which should be the same.`;

/** Adds `merge` to the program. */
export function registerMerge(program: Command): void {
  withCommonOptions(program.command('merge'))
    .requiredOption('--model <dir>', 'checkpoint, name of a run, model folder, or a name of `braid models list`')
    .requiredOption('--output <dir>', 'new folder for the merged model')
    .option('--base <dir>', "base model of a LoRA checkpoint, if it isn't where the checkpoint says")
    .addOption(new Option('--dtype <type>', "type of the weights (default: the base model's)").choices(DTYPES))
    .addOption(new Option('--gguf <type>', 'write a GGUF file and a Modelfile as well').choices(GGUF_CHOICES))
    .option('--dataset <file>', "held-out records (JSONL) to compare on (default: 16 of the checkpoint's run)")
    .addHelpText('after', HELP)
    .action((options: MergeCommandOptions, command: Command) => merge(options, command));
}

async function merge(options: MergeCommandOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const { output, base, dtype, gguf, dataset } = options;
  const model = namedCheckpoint(context, options.model);
  const request = {
    model,
    output,
    paths: hostPaths(),
    backend: backendChoice(context.backend),
    threads: context.threads,
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

function print(context: CommandContext, result: MergeResult): void {
  const { folder, dtype, files, agreement, compared_on, gguf } = result;
  const source = result.of === 'model' ? 'the model itself' : 'the checkpoint';
  context.print(`${folder} (${dtype}):`);
  for (const { name, bytes } of files) context.print(`  ${name}${bytes < 2 ** 20 ? '' : `, ${formatBytes(bytes)}`}`);
  context.print(
    `Loaded again, it answers ${agreement.equal} of ${counted(agreement.prompts, 'prompt')} as ${source} does.`,
  );
  const rounding = roundingWords(result);
  if (rounding !== null) context.print(rounding);
  context.print(`Compared on ${sourceWords(compared_on, agreement.prompts)}.`);
  if (gguf === null) return;
  if (gguf.note !== null) context.print(gguf.note);
  if (gguf.read_back !== null) context.print(readBackWords(gguf.read_back));
  if ('unproved' in gguf) {
    context.print(`llama.cpp has not answered from it: ${gguf.unproved}.`);
    return;
  }
  context.print(
    `llama.cpp answers ${gguf.equal} of ${counted(gguf.prompts, 'prompt')} from the GGUF file as ${source} does.`,
  );
  context.print(`It cuts ${gguf.same_tokens} of ${counted(gguf.prompts, 'prompt')} into the same tokens as Braid.`);
  if (gguf.missed_ends.length > 0) context.print(missedEndsWords(gguf.missed_ends));
}
