/** The channel to a trainer process, implemented by the plain Node host and the desktop. */
import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import { startReason } from '../../io/start-reason.ts';
import type { BackendSetting } from '../../trainer/config/backend-names.ts';
import type { TrainerJob } from '../../trainer/jobs/jobs.ts';
import type { MemoryUse } from '../../trainer/memory/budget.ts';
import { promisedEnvironment } from '../../trainer/memory/environment.ts';
import { YIELDS } from '../../trainer/process/priority.ts';
import type { HostCommand, JobEvent } from '../../trainer/protocol/trainer-events.ts';

/** A newly started trainer process that waits for its job, or another process that is asked by messages. */
export interface TrainerChannel<M = TrainerJob | HostCommand> {
  /** Undefined if the system could not start it. */
  readonly pid: number | undefined;
  readonly stderr: Readable | null;
  /** Messages to an exited process are dropped; its exit is reported separately. */
  post(message: M): void;
  /** Ends it at once. */
  kill(): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Called once, after the last message. `fault`: why it could not be started; null: it was. */
  onExit(listener: (code: number | null, signal: string | null, fault: string | null) => void): void;
}

/** Starts a trainer process; `env` is added to the host's environment, `backend` is what its job will ask for. */
export type LaunchTrainer<M = TrainerJob | HostCommand> = (
  env?: Readonly<Record<string, string>>,
  backend?: BackendSetting,
) => TrainerChannel<M>;

/** Launches trainers with low priority, so that the app's pages stay responsive. */
export function yielding(launch: LaunchTrainer): LaunchTrainer {
  return adding(launch, () => ({ [YIELDS]: '1' }));
}

/** Launches trainers with more variables, as they are at the time. */
export function adding(launch: LaunchTrainer, variables: () => Readonly<Record<string, string>>): LaunchTrainer {
  return (env, backend) => launch({ ...env, ...variables() }, backend);
}

/** Launches trainers that leave to others what these were promised and haven't taken yet. */
export function leaving(launch: LaunchTrainer, promised: () => MemoryUse): LaunchTrainer {
  return adding(launch, () => promisedEnvironment(promised()));
}

/** Launches trainers and reports, once for each, what side jobs say against the backend that they compute on. */
export function warning(launch: LaunchTrainer, onWarning: (warning: string) => void): LaunchTrainer {
  const reported = new Set<string>();
  return (env, backend) => {
    const channel = launch(env, backend);
    channel.onMessage((events) => {
      for (const { kind, warning } of events as readonly Partial<Extract<JobEvent, { kind: 'ready' }>>[]) {
        if (kind !== 'ready' || warning === undefined || reported.has(warning)) continue;
        reported.add(warning);
        onWarning(warning);
      }
    });
    return channel;
  };
}

/** A trainer that has said all and doesn't exit within this time is ended: Node may hang there (nodejs/node#54918). */
export const EXIT_MS = 3000;

/**
 * Large tensors come and go within a step, and most of their time went into the kernel's handing over of fresh memory,
 * 4 KiB at a time: glibc's malloc is to ask for pages of 2 MiB, and to keep a GiB of what was freed. Elsewhere, and
 * before glibc 2.35, the variable means nothing.
 */
const LARGE_PAGES = { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1:glibc.malloc.trim_threshold=1073741824' } as const;

/** The environment of a trainer: the host's, with what is added for it. */
export function trainerEnvironment(added: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return { ...LARGE_PAGES, ...process.env, ...added };
}

/**
 * Calls once the process has exited, its messages were delivered and its stderr has been read. 'close' says that, but
 * Node can lose it (nodejs/node#65646): the run would never end, and a command would exit in the middle.
 */
export function onceClosed(child: ChildProcess, listener: (code: number | null, signal: string | null) => void): void {
  let called = false;
  let timer: NodeJS.Timeout | undefined;
  const call = (): void => {
    clearTimeout(timer);
    if (!called) listener(child.exitCode, child.signalCode);
    called = true;
  };
  const check = (): void => {
    const { exitCode, signalCode, connected, stderr } = child;
    const hasExited = exitCode !== null || signalCode !== null;
    if (hasExited && !connected && (stderr?.closed ?? true)) call();
  };
  // After what was received before: messages are delivered in ticks of their own.
  const soon = (): void => void setImmediate(check);
  child.once('close', call);
  for (const event of ['exit', 'disconnect']) child.once(event, soon);
  child.stderr?.once('close', soon);
  // Whatever is missing then doesn't come.
  child.once('exit', () => {
    timer = setTimeout(() => setImmediate(call), EXIT_MS);
  });
}

/** Launches the trainer as a process of this Node, or of another one. */
export function forkTrainer(entry: string, node: string = process.execPath): LaunchTrainer<object> {
  return (env) => {
    const options: ForkOptions = {
      execPath: node,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: trainerEnvironment(env),
    };
    let fault: string | null = null;
    let child: ChildProcess;
    try {
      child = fork(entry, [], options);
    } catch (error) {
      return unstarted(startReason(error, node));
    }
    child.on('error', (error) => {
      if (child.pid === undefined) fault ??= startReason(error, node);
    });
    child.once('disconnect', () => {
      const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_MS);
      child.once('exit', () => clearTimeout(timer));
    });
    return {
      pid: child.pid,
      // Without a free file descriptor it has none, whatever its type says.
      stderr: child.stderr ?? null,
      post: (message) => {
        if (child.connected) child.send(message, () => undefined);
      },
      kill: () => void child.kill('SIGKILL'),
      onMessage: (listener) => void child.on('message', listener),
      onExit: (listener) => onceClosed(child, (code, signal) => listener(code, signal, fault)),
    };
  };
}

/** What is left of a process that the system refused at once. */
function unstarted(fault: string): TrainerChannel<object> {
  const nothing = (): void => undefined;
  return {
    pid: undefined,
    stderr: null,
    post: nothing,
    kill: nothing,
    onMessage: nothing,
    onExit: (listener) => void setImmediate(() => listener(null, null, fault)),
  };
}
