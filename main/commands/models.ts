/** `braid models`: what can be trained from, what other programs have on this machine, and adding it. */
import { type Command, Option } from 'commander';
import { machineMemory } from '../services/doctor/machine-memory.ts';
import { type AddRequest, addModel } from '../services/models/add.ts';
import { type FoundModel, foundModels } from '../services/models/found.ts';
import { listModels, type ModelEntry } from '../services/models/list.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import { formatBytes } from '../text/format.ts';
import { GGUF_DTYPES } from '../trainer/protocol/export-types.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';

const HELP = `
A GGUF file is converted into a model folder of the workspace; weights of few bits become the numbers that they stand
for. A Hugging Face folder is used in place, or copied into the workspace if it gets a name.`;

/** Adds `models` to the program. */
export function registerModels(program: Command): void {
  const models = program.command('models');
  withCommonOptions(models.command('list', { isDefault: true }))
    .description('models to train from, and those of Ollama, LM Studio, the Hugging Face cache and llama.cpp here')
    .action((_: object, command: Command) => list(commandContext(command)));
  withCommonOptions(models.command('add'))
    .description('add a GGUF file or a Hugging Face folder')
    .argument('<path>', 'the file or folder, or a name of the list')
    .option('--name <name>', "of the model (default: the file's)")
    .addOption(
      new Option('--dtype <type>', 'type of the weights of a GGUF file (default: loses nothing)').choices(GGUF_DTYPES),
    )
    .addHelpText('after', HELP)
    .action((path: string, options: Omit<AddRequest, 'path'>, command: Command) =>
      add({ path, ...options }, commandContext(command)),
    );
}

async function list(context: CommandContext): Promise<void> {
  const paths = hostPaths();
  const workspace = openWorkspace({ workspace: context.workspace.root });
  const store = openStore(workspace.database);
  try {
    const places = { store, workspace, paths };
    const models = listModels(places).filter(({ kind, deleted }) => kind !== 'checkpoint' && !deleted);
    const found = await foundModels(places, await machineMemory(paths));
    for (const model of models) context.print(modelLine(model));
    if (found.length > 0) context.print('\nOn this machine, for braid models add:');
    for (const model of found) context.print(foundLine(model));
    context.out({
      models: models.map(({ name, kind, folder, architecture, parameters, problem }) => ({
        name,
        kind,
        folder,
        architecture,
        parameters,
        problem,
      })),
      found: found.map(({ ref, ...model }) => ({ ...model, added: ref !== null })),
    });
  } finally {
    store.close();
  }
}

/** First what --model takes: an imported folder has no name of its own. */
function modelLine({ kind, name, folder, architecture, parameters, problem }: ModelEntry): string {
  const what = problem ?? `${architecture}, ${millions(parameters ?? 0)}`;
  return kind === 'imported' ? `${folder}  ${what}` : `${name}  ${what}  ${folder}`;
}

function foundLine({ source, name, path, bytes, problem, memory, ...model }: FoundModel): string {
  const size = formatBytes(bytes);
  if (problem !== null) return `${source}  ${name}  ${size}  can't be trained: ${problem}`;
  const room = memory === null ? '' : `, LoRA ${formatBytes(memory.lora)}, all weights ${formatBytes(memory.full)}`;
  const added = model.ref === null ? '' : ' (added)';
  return `${source}  ${name}${added}  ${size}, ${model.architecture} in ${model.weights}${room}  ${path}`;
}

async function add(request: AddRequest, context: CommandContext): Promise<void> {
  const workspace = openWorkspace({ workspace: context.workspace.root });
  const store = openStore(workspace.database);
  try {
    const host = { store, workspace, paths: hostPaths() };
    const added = await followJob('adding', context, (job) => addModel(host, request, job));
    if (added === null) return;
    context.print(`${added.folder}: ${added.architecture}, ${millions(added.parameters)}, ${added.dtype}`);
    if (added.note !== null) context.print(added.note);
    context.out(added);
  } finally {
    store.close();
  }
}

function millions(parameters: number): string {
  return `${(parameters / 1e6).toFixed(parameters < 1e7 ? 1 : 0)} million parameters`;
}
