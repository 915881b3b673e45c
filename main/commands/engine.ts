/** `braid engine`: servers elsewhere that sample and train, by the Tinker protocol. */
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import {
  type EngineEntry,
  listEngines,
  openEngineFile,
  removeEngine,
  requireEngine,
  requireNoServer,
  saveEngine,
} from '../services/engines/engines.ts';
import { engineKey, setEngineKey } from '../services/engines/keys.ts';
import { openServerRecords } from '../services/engines/server-records.ts';
import { ruleWords, testEngine } from '../services/engines/test-engine.ts';
import { openSecrets } from '../services/workspace/secrets.ts';
import { counted } from '../text/format.ts';
import { registerEngineServer, textOfStdin } from './engine-server.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, withCommonOptions } from './shared.ts';

interface AddOptions {
  readonly url: string;
  readonly baseModel: string;
  readonly prices?: string;
  readonly allowPlainHttp?: boolean;
  readonly yes?: boolean;
}

/** Adds `engine` to the program. */
export function registerEngine(program: Command): void {
  const engine = program.command('engine');
  withCommonOptions(engine.command('add <name>'))
    .description('add an engine, or change the one of that name')
    .requiredOption('--url <address>', 'https, or http on this machine')
    .requiredOption('--base-model <name>', "the model's name on the server")
    .option('--prices <prefill,sample,train>', 'for a million tokens each')
    .option('--allow-plain-http', 'with --yes: send prompts and key unencrypted to another machine')
    .option('--yes', 'confirms --allow-plain-http')
    .action((name: string, options: AddOptions, command: Command) => add(name, options, commandContext(command)));
  withCommonOptions(engine.command('key <name>'))
    .description("keep an engine's key, read from standard input; an empty line forgets it")
    .action((name: string, _: object, command: Command) => keepKey(name, commandContext(command)));
  withCommonOptions(engine.command('list'))
    .description('your engines')
    .action((_: object, command: Command) => list(commandContext(command)));
  withCommonOptions(engine.command('test <name>'))
    .description('reach an engine, sample a group, time a step')
    .action((name: string, _: object, command: Command) => test(name, commandContext(command)));
  withCommonOptions(engine.command('remove <name>'))
    .description('forget an engine; its runs stay')
    .action((name: string, _: object, command: Command) => remove(name, commandContext(command)));
  registerEngineServer(engine);
}

/** Saying it once could be a slip. */
function add(name: string, options: AddOptions, context: CommandContext): void {
  if (options.allowPlainHttp === true && options.yes !== true)
    throw inputError(
      'ENGINE_NOT_SECURE',
      'Expected --yes with --allow-plain-http: prompts and key would be readable on the way',
      'Use https or an SSH tunnel to this machine.',
    );
  const prices = options.prices === undefined ? null : pricesOf(options.prices);
  const given = { name, url: options.url, baseModel: options.baseModel, prices };
  const entry = saveEngine(openEngineFile(), { ...given, allowPlain: options.allowPlainHttp === true });
  context.print(`${entry.name}: ${entry.baseModel} at ${entry.url}`);
  context.out(entry);
}

function pricesOf(text: string): EngineEntry['prices'] {
  const [prefill, sample, train, ...more] = text.split(',').map(Number);
  const isNumber = (value: number | undefined): value is number => value !== undefined && Number.isFinite(value);
  if (more.length === 0 && isNumber(prefill) && isNumber(sample) && isNumber(train)) return { prefill, sample, train };
  throw inputError('BAD_OPTION', `Expected --prices to be three numbers such as 0.1,0.4,0.6, got "${text}"`);
}

async function keepKey(name: string, context: CommandContext): Promise<void> {
  const engine = requireEngine(openEngineFile(), name);
  const key = (await textOfStdin()).trim();
  setEngineKey(openSecrets(), engine, key === '' ? null : key);
  context.print(key === '' ? `The key for ${engine.url} is forgotten` : `The key for ${engine.url} is kept`);
  context.out({ engine: name, kept: key !== '' });
}

function list(context: CommandContext): void {
  const engines = listEngines(openEngineFile());
  const secrets = openSecrets();
  if (engines.length === 0) context.print('No engine is set up: braid engine add NAME --url … --base-model …');
  for (const engine of engines)
    context.print(
      `${engine.name}: ${engine.baseModel} at ${engine.url}${engineKey(secrets, engine) === null ? '' : ', with a key'}`,
    );
  context.out({ engines: engines.map((engine) => ({ ...engine, hasKey: engineKey(secrets, engine) !== null })) });
}

async function test(name: string, context: CommandContext): Promise<void> {
  const engine = requireEngine(openEngineFile(), name);
  const found = await testEngine(engine, { secrets: openSecrets(), paths: hostPaths() });
  context.print(`Models: ${found.models.join(', ') || 'not listed'}`);
  context.print(
    `A group of ${found.completions} with ${counted(found.tokens, 'token')}: ${found.sampleSeconds.toFixed(2)} s`,
  );
  context.print(`A step on it: ${found.stepSeconds.toFixed(2)} s. ${ruleWords(found)}`);
  context.out({ engine: name, ...found });
}

function remove(name: string, context: CommandContext): void {
  requireNoServer(openServerRecords(), name);
  removeEngine(openEngineFile(), name);
  context.print(`${name} is forgotten; the history of its runs stays`);
  context.out({ removed: name });
}
