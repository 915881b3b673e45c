/** An OpenEnv server that Braid starts by a command, on a free port, and ends again: also when this process is killed. */
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startReason } from '../../io/start-reason.ts';
import { type CommandFiles, filesOf } from '../../tasks/external/access.ts';
import { type OpenEnvSpec, PORT, pagesOf, socketOf } from '../../tasks/openenv/spec.ts';
import { folderOf, killGroup, startGroup } from '../process-group.ts';

/** Where a running server is asked. */
export interface Address {
  readonly socket: string;
  readonly pages: string;
}

export interface Server {
  /** Its address, once it answers; a text: why it doesn't. One that has ended is started again. */
  address(): Promise<Address | string>;
  /** Why it has ended, where that may be why a conversation was lost; null: it lives. */
  fault(): Promise<string | null>;
  close(): Promise<void>;
}

const KEPT_STDERR = 400;
/** Between two looks at a server that starts. */
const POLL_MS = 100;
/** Between being asked to end and being killed. */
const GRACE_MS = 1000;
/** For the last words of a server that has ended. */
const LAST_WORDS_MS = 500;
/** For the end of one that has dropped a conversation, its last words included. */
const END_MS = 3 * LAST_WORDS_MS;

/**
 * The shell's input ends with this process, however that ends: then the whole group is killed. Windows ends the children
 * of a process with it.
 */
const GUARD = `trap : TERM
exec 3<&0
{ read -r _ <&3; kill -KILL 0; } 3<&3 &
guard=$!
"$@" </dev/null 3<&-
code=$?
kill -KILL $guard 2>/dev/null
exit $code`;

/** A server that runs already, or one to be started with the first question. */
export function openServer(spec: OpenEnvSpec, files: CommandFiles): Server {
  const { command } = spec;
  if (command === null) {
    const address = { socket: socketOf(spec.openenv), pages: pagesOf(spec.openenv) };
    return { address: async () => address, fault: async () => null, close: async () => undefined };
  }
  const folder = folderOf(filesOf({ command, files: spec.files }, files));
  let running: Promise<Started> | null = null;
  let last: Started | null = null;
  return {
    address: async () => {
      if (last?.ended() != null) running = last = null;
      running ??= startServer({ ...spec, command }, folder);
      const started = await running;
      last ??= started;
      return started.ended() ?? started.address;
    },
    fault: async () => (await last?.endedSoon()) ?? null,
    close: async () => {
      await (await running)?.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Started {
  readonly address: Address;
  /** Why it has ended; null: it runs. */
  ended(): string | null;
  /** The same after a moment: a lost conversation is noticed before the end of its server. */
  endedSoon(): Promise<string | null>;
  end(): Promise<void>;
}

async function startServer(
  { command, openenv, start_timeout_s }: OpenEnvSpec & { readonly command: readonly string[] },
  folder: string,
): Promise<Started> {
  const port = openenv.includes(PORT) ? await freePort() : 0;
  const [program = '', ...args] = command.map((part) => part.replaceAll(PORT, String(port)));
  const guard = process.platform === 'win32' ? [] : ['/bin/sh', '-c', GUARD, 'sh'];
  const child = startGroup([...guard, program, ...args], folder, ['pipe', 'ignore', 'pipe']);
  let [stderr, ended] = ['', null as string | null];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-KEPT_STDERR);
  });
  child.stdin?.on('error', () => undefined);
  child.on('error', (error) => {
    ended ??= `the server can't be started: ${startReason(error, program)}`;
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', async (code, signal) => {
      killGroup(child);
      await Promise.race([closed, sleep(LAST_WORDS_MS)]);
      ended ??= endOf(program, code, signal, stderr.trim());
      resolve();
    });
  });
  const end = async (): Promise<void> => {
    if (ended === null) {
      killGroup(child, 'SIGTERM');
      await Promise.race([exited, sleep(GRACE_MS)]);
    }
    killGroup(child);
  };
  const address = { socket: socketOf(openenv, port), pages: pagesOf(openenv, port) };
  const until = performance.now() + start_timeout_s * 1000;
  while (ended === null && !(await answers(address.pages))) {
    if (performance.now() > until) {
      ended = `the server gave no answer within ${start_timeout_s} s of its start`;
      await end();
    } else await sleep(POLL_MS);
  }
  const endedSoon = async (): Promise<string | null> => {
    await Promise.race([exited, sleep(END_MS)]);
    return ended;
  };
  return { address, ended: () => ended, endedSoon, end };
}

function endOf(program: string, code: number | null, signal: string | null, said: string): string {
  // What the shell says of a program that it can't find or run.
  const fault = { 127: 'ENOENT', 126: 'EACCES' }[code ?? 0];
  if (fault !== undefined && said.includes(program))
    return `the server can't be started: ${startReason(Object.assign(new Error(said), { code: fault }), program)}`;
  return `the server ended ${signal === null ? `with code ${code}` : `by ${signal}`}${said === '' ? '' : `: ${said}`}`;
}

/** Whether a page answers, whatever it says. */
async function answers(pages: string): Promise<boolean> {
  try {
    const { body } = await fetch(`${pages}/health`, { redirect: 'manual', signal: AbortSignal.timeout(2000) });
    await body?.cancel();
    return true;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
