/** `braid engine up`, `down`, `status`, `log`, `launcher`: the servers of engines, started from here. */
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { BraidError, inputError } from '../errors.ts';
import { type EngineEntry, openEngineFile, requireEngine, saveEngine } from '../services/engines/engines.ts';
import { setClusterToken } from '../services/engines/keys.ts';
import { launcherSchema, launcherWords, type ServerLauncher } from '../services/engines/server-launcher.ts';
import { openServerRecords } from '../services/engines/server-records.ts';
import { requireUp } from '../services/servers/require-up.ts';
import { openServers, type ServerStatus, type Servers } from '../services/servers/servers.ts';
import { openSecrets } from '../services/workspace/secrets.ts';
import { formatDuration } from '../text/format.ts';
import { askOnTerminal } from './ask.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';

interface UpOptions {
  readonly wait?: boolean;
  readonly within: string;
}

interface LauncherOptions {
  readonly command?: string;
  readonly ssh?: string;
  readonly remotePort?: string;
  readonly ray?: string;
  readonly entrypoint?: string;
  readonly workingDir?: string;
  readonly pip?: readonly string[];
  readonly env?: readonly string[];
  readonly gpus?: string;
  readonly cpus?: string;
  readonly token?: boolean;
  readonly hf?: string;
  readonly image?: string;
  readonly flavor?: string;
  readonly idleMinutes?: string;
  readonly maxHours?: string;
  readonly allowPlainHttp?: boolean;
  readonly yes?: boolean;
  readonly none?: boolean;
}

const LOOK_MS = 1000;

/** Adds the commands to `engine`. */
export function registerEngineServer(engine: Command): void {
  withCommonOptions(engine.command('launcher <name>'))
    .description('say how the server of an engine is started from here')
    .option('--command <line>', "a shell's line, on this machine or with --ssh")
    .option('--ssh <host>', 'run it there, with a tunnel to the address of the engine')
    .option('--remote-port <n>', "the server's port where it runs (default: the engine's)")
    .option('--ray <dashboard>', 'as a Ray job: the address of the cluster’s dashboard; with --entrypoint')
    .option('--entrypoint <line>', 'what the Ray job runs')
    .option('--working-dir <folder>', 'uploaded for the Ray job')
    .option('--pip <packages...>', 'packages of the Ray job')
    .option('--cpus <n>', 'processors of the Ray job’s entry point')
    .option('--gpus <n>', 'GPUs of the Ray job’s entry point')
    .option('--token', "read the cluster's token from standard input; an empty line forgets it")
    .option('--hf <namespace>', 'as a job of Hugging Face, which bills it; with --command, --image and --flavor')
    .option('--image <name>', 'the container image of the Hugging Face job')
    .option('--flavor <name>', 'its machine, such as a10g-small')
    .option('--env <NAME=value...>', 'variables of a job; not for keys')
    .option('--idle-minutes <n>', 'end it after that long without a run; 0: never (default: 30)')
    .option('--max-hours <n>', 'it ends by itself after that long; 0: never (default: 12)')
    .option('--allow-plain-http', 'with --yes: reach the dashboard unencrypted on another machine')
    .option('--yes', 'confirms --allow-plain-http')
    .option('--none', 'forget how it is started')
    .action((name: string, options: LauncherOptions, command: Command) =>
      setLauncher(name, options, commandContext(command)),
    );
  withCommonOptions(engine.command('up <name>'))
    .description('start the server of an engine, and wait until it answers')
    .option('--no-wait', 'return at once')
    .option('--within <minutes>', 'how long to wait', '20')
    .action((name: string, options: UpOptions, command: Command) => up(name, options, commandContext(command)));
  withCommonOptions(engine.command('down <name>'))
    .description('end the server of an engine')
    .option('--forget', "give up on one that can't be asked")
    .action((name: string, options: { readonly forget?: boolean }, command: Command) =>
      down(name, options.forget === true, commandContext(command)),
    );
  withCommonOptions(engine.command('status [name]'))
    .description('what is up; without a name, of all engines')
    .action((name: string | undefined, _: object, command: Command) => status(name, commandContext(command)));
  withCommonOptions(engine.command('log <name>'))
    .description('the end of what a server printed')
    .option('--follow', 'print what comes until it ends; Ctrl-C ends this command only')
    .action((name: string, options: { readonly follow?: boolean }, command: Command) =>
      log(name, options.follow === true, commandContext(command)),
    );
}

function servers(): Servers {
  return openServers({ records: openServerRecords(), secrets: openSecrets() });
}

/** What may still be up when a host ends: servers outlive it. */
export function stillUp(known: readonly ServerStatus[]): readonly string[] {
  return known
    .filter(({ mayBeUp }) => mayBeUp)
    .map(
      ({ engine, where, ...ends }) =>
        `The server of engine "${engine}" stays up: ${where}. ${endWords(ends)} End it by: braid engine down ${engine}`,
    );
}

/**
 * Before a run on an engine whose server can be launched from here, and isn't up: at a terminal it is offered, otherwise
 * refused.
 */
export async function requireServer(
  engine: EngineEntry | null,
  context: CommandContext,
  ask: typeof askOnTerminal = askOnTerminal,
): Promise<void> {
  const desk = servers();
  if (engine === null || !(await desk.isMissing(engine))) return;
  if (await ask(`The server of engine "${engine.name}" isn't up. Launch it (${whereOf(engine)})? [y/N] `))
    await up(engine.name, { within: '20' }, { ...context, print: context.say, out: () => undefined });
  else await requireUp(desk, engine);
}

const whereOf = ({ launcher }: EngineEntry): string => (launcher === null ? 'by hand' : launcherWords(launcher));

/** When it ends without Braid. */
function endWords({ endsIdle, idleMinutes, maxHours }: Pick<ServerStatus, 'endsIdle' | 'idleMinutes' | 'maxHours'>) {
  if (endsIdle) return `It ends after ${formatDuration(idleMinutes * 60)} without a run.`;
  return maxHours > 0
    ? `It ends by itself ${formatDuration(maxHours * 3600)} after its start.`
    : 'It does not end by itself.';
}

async function up(name: string, { wait, within }: UpOptions, context: CommandContext): Promise<void> {
  const engine = requireEngine(openEngineFile(), name);
  const desk = servers();
  let status = await desk.up(engine);
  context.say(`${name}: ${status.where}`);
  const until = Date.now() + wholeNumber('--within', within) * 60_000;
  while (wait !== false && status.state === 'starting' && Date.now() < until) {
    await sleep(LOOK_MS);
    const seen = (await desk.status(name)) ?? status;
    if (seen.detail !== status.detail) context.say(seen.detail);
    status = seen;
  }
  if (!status.mayBeUp)
    throw new BraidError('SERVER_FAILED', `The server of "${name}" didn't start. ${status.detail}`, {
      remedy: `Read its log: braid engine log ${name}`,
    });
  context.print(wordsOf(status));
  for (const line of stillUp([status])) context.say(line);
  context.out(status);
}

async function down(name: string, gone: boolean, context: CommandContext): Promise<void> {
  const desk = servers();
  const status = gone ? desk.forget(name) : await desk.down(name);
  context.print(wordsOf(status));
  context.out(status);
}

async function status(name: string | undefined, context: CommandContext): Promise<void> {
  const desk = servers();
  await desk.refresh();
  const all = desk.list().filter(({ engine }) => name === undefined || engine === name);
  if (all.length === 0) context.print('No server was started from here');
  for (const one of all) context.print(wordsOf(one));
  context.out({ servers: all });
}

function wordsOf({ engine, state, where, detail, startedAt, mayBeUp, endedAt }: ServerStatus): string {
  const seconds = ((endedAt ?? Date.now()) - startedAt) / 1000;
  return `${engine}: ${state}, ${where}. ${detail}. ${mayBeUp ? 'Up for' : 'It was up for'} ${formatDuration(seconds)}`;
}

async function log(name: string, follow: boolean, context: CommandContext): Promise<void> {
  const desk = servers();
  let text = await desk.log(name);
  context.print(text.trimEnd());
  while (follow && (await desk.status(name))?.mayBeUp === true) {
    await sleep(LOOK_MS);
    const now = await desk.log(name);
    const more = newIn(text, now);
    if (more !== '') context.print(more.trimEnd());
    text = now;
  }
  context.out({ engine: name, text });
}

/** What a longer log, or the later end of one, adds. */
export function newIn(before: string, now: string): string {
  if (now.startsWith(before)) return now.slice(before.length);
  const last = before.slice(-200);
  const at = last === '' ? -1 : now.lastIndexOf(last);
  return at < 0 ? now : now.slice(at + last.length);
}

async function setLauncher(name: string, options: LauncherOptions, context: CommandContext): Promise<void> {
  const file = openEngineFile();
  const { launcher: before, ...engine } = requireEngine(file, name);
  const given = options.none === true ? null : launcherOf(options);
  const launcher = given === undefined ? before : given;
  saveEngine(file, { ...engine, launcher });
  if (options.token === true) {
    const token = (await textOfStdin()).trim();
    setClusterToken(openSecrets(), { name, launcher }, token === '' ? null : token);
    context.print(token === '' ? 'The token is forgotten' : "The cluster's token is kept");
  }
  context.print(launcher === null ? `${name} isn't started from here` : `${name}: ${launcherWords(launcher)}`);
  context.out({ engine: name, launcher });
}

/** The launcher that the options describe; undefined: they describe none. */
function launcherOf(options: LauncherOptions): ServerLauncher | undefined {
  const { command, ssh, ray, hf, idleMinutes, maxHours, remotePort } = options;
  const limits = {
    port: remotePort === undefined ? null : wholeNumber('--remote-port', remotePort),
    ...(idleMinutes !== undefined && { idleMinutes: wholeNumber('--idle-minutes', idleMinutes, 0) }),
    ...(maxHours !== undefined && { maxHours: Number(maxHours) }),
  };
  if (ray !== undefined) {
    if (options.allowPlainHttp === true && options.yes !== true)
      throw inputError(
        'ENGINE_NOT_SECURE',
        'Expected --yes with --allow-plain-http: anyone on the way could run commands',
      );
    const { entrypoint, workingDir, pip = [], cpus, gpus } = options;
    requireOptions('--ray', { entrypoint });
    return checked({
      kind: 'ray',
      dashboard: ray,
      allowPlain: options.allowPlainHttp === true,
      entrypoint,
      pip,
      ...limits,
      workingDir: workingDir === undefined ? null : resolve(workingDir),
      env: variables(options.env),
      cpus: Number(cpus ?? 0),
      gpus: Number(gpus ?? 0),
    });
  }
  if (hf !== undefined) {
    const { image, flavor } = options;
    requireOptions('--hf', { command, image, flavor });
    return checked({ kind: 'hf', namespace: hf, image, flavor, command, env: variables(options.env), ...limits });
  }
  if (command === undefined) return undefined;
  return checked({ kind: 'command', command, host: ssh ?? null, ...limits });
}

function requireOptions(way: string, options: Readonly<Record<string, string | undefined>>): void {
  const missing = Object.keys(options).filter((name) => options[name] === undefined);
  if (missing.length === 0) return;
  const named = missing.map((name) => `--${name}`).join(', ');
  throw inputError('BAD_LAUNCHER', `Expected ${named} with ${way}`);
}

function checked(launcher: object): ServerLauncher {
  const parsed = launcherSchema.safeParse(launcher);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw inputError('BAD_LAUNCHER', `Expected a launcher: "${issue?.path.join('.')}": ${issue?.message}`);
}

function variables(given: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((one) => {
      const at = one.indexOf('=');
      if (at < 1) throw inputError('BAD_OPTION', `Expected --env to be NAME=value, got "${one}"`);
      return [one.slice(0, at), one.slice(at + 1)];
    }),
  );
}

/** All of standard input. */
export async function textOfStdin(): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(Buffer.from(piece as Uint8Array));
  return Buffer.concat(pieces).toString('utf8');
}
