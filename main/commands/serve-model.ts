/** `braid serve-model`: a model at an OpenAI-compatible address. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { resolveModelParts } from '../services/models/resolve.ts';
import { keepModel } from '../services/serving/kept-model.ts';
import { openAddress } from '../services/serving/openai/server.ts';
import { hostPaths } from './host-paths.ts';
import { backendChoice, commandContext, portNumber, withCommonOptions } from './shared.ts';
import { withInterruption } from './side-job.ts';

/** Adds `serve-model` to the program. */
export function registerServeModel(program: Command): void {
  withCommonOptions(program.command('serve-model'))
    .requiredOption('--model <dir>', 'model folder or checkpoint')
    .option('--base <dir>', "a LoRA checkpoint's base model (default: the one it names)")
    .option('--name <name>', "what requests call the model (default: its folder's name)")
    .option('--port <n>', 'port; 0: any free one', '0')
    .action((options: ServeModelOptions, command: Command) => run(options, command));
}

interface ServeModelOptions {
  readonly model: string;
  readonly base?: string;
  readonly name?: string;
  readonly port: string;
}

async function run(options: ServeModelOptions, command: Command) {
  const context = commandContext(command);
  const port = portNumber('--port', options.port, 0);
  const backend = backendChoice(context.backend);
  const paths = { ...hostPaths(), models: context.workspace.models };
  const model = resolveModelParts(options.model, paths, options.base);
  const name = options.name ?? basename(model.adapter ?? model.base);
  await withInterruption(context, async (signal) => {
    const { trainer: launch, kernels: kernelsFile } = paths;
    context.say(`Loading ${name} …`);
    const kept = await keepModel({ model, launch, backend, threads: context.threads, kernelsFile, signal });
    try {
      const served = await openAddress({ kept, name, port });
      context.print(`${name} answers at ${served.address} (${kept.backend}, ${kept.context} tokens)`);
      context.print(`Key: ${served.key}`);
      context.say('Whoever has the key can use it. Ctrl-C ends it.');
      context.out({ address: served.address, key: served.key, model: name, context: kept.context });
      const ended = await kept.ended;
      await served.close();
      if (ended !== null) throw ended;
    } finally {
      await kept.stop();
    }
  });
}
