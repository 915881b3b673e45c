/** `braid score`: log-probabilities of given completions. */
import type { Command } from 'commander';
import { scoreFile } from '../services/evaluation/score.ts';
import { hostPaths } from './host-paths.ts';
import { backendChoice, commandContext, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';
import { tableLines } from './table.ts';

interface ScoreCommandOptions {
  readonly model: string;
  readonly dataset: string;
  readonly base?: string;
}

const HELP = `
The file has one JSON object per line: {"id", "prompt", "completion"} with texts, {"id", "prompt_ids",
"completion_ids"} with token ids, or {"id", "messages"}, a conversation whose last turn, the assistant's, is scored to
its end token, as the chat template writes it ("tools": the functions that it may call). A prompt text is encoded as is, with the special tokens that the tokenizer
itself adds, without a chat template. A completion text is encoded without special tokens; end it with ids where its
end token should count. Log-probabilities are in nats, at temperature 1. Weights are used in float32, or in 16 bits where
the adapter was trained over such weights or float32 would leave too little memory.`;

/** Adds `score` to the program. */
export function registerScore(program: Command): void {
  withCommonOptions(program.command('score'))
    .requiredOption('--model <dir>', 'model folder, checkpoint, or a name of `braid models list`')
    .requiredOption('--dataset <file>', 'prompts and completions (JSONL)')
    .option('--base <dir>', "base model of a LoRA checkpoint, if it isn't where the checkpoint says")
    .addHelpText('after', HELP)
    .action((options: ScoreCommandOptions, command: Command) => score(options, command));
}

async function score(options: ScoreCommandOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const { model, dataset, base } = options;
  const request = {
    model,
    dataset,
    paths: hostPaths(),
    backend: backendChoice(context.backend),
    threads: context.threads,
    ...(base === undefined ? {} : { base }),
  };
  const done = await followJob('scoring', context, (job) => scoreFile({ ...request, ...job }));
  if (done === null) return;
  const rows = done.items.map(({ id, logprobs }) => {
    const sum = logprobs.reduce((total, value) => total + value, 0);
    return [id, logprobs.length, sum.toFixed(3), Math.exp(-sum / Math.max(1, logprobs.length)).toPrecision(4)];
  });
  for (const line of tableLines(['id', 'tokens', 'log-probability', 'perplexity'], rows)) context.print(line);
  context.out({ items: done.items });
}
