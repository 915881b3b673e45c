/** The trainer in a utility process of Electron's: the desktop's counterpart of forkTrainer. */
import { PassThrough, type Readable } from 'node:stream';
import { type UtilityProcess, utilityProcess } from 'electron';
import { EXIT_MS, type LaunchTrainer, trainerEnvironment } from '../services/trainer-process/channel.ts';
import { LAST_WORD } from '../trainer/process/host-port.ts';

/** How long to wait for the last stderr output of an exited process. */
const LAST_WORDS_MS = 500;

/** Launches the built trainer entry. */
export function launchUtility(entry: string): LaunchTrainer<object> {
  return (env) => {
    const child = utilityProcess.fork(entry, [], {
      serviceName: 'Braid trainer',
      stdio: ['ignore', 'ignore', 'pipe'],
      env: trainerEnvironment(env),
    });
    const stderr = followStderr(child);
    let killed = false;
    let gone = false;
    child.on('error', () => undefined);
    child.once('exit', () => (gone = true));
    const kill = (): void => {
      killed = true;
      if (!gone) end(child);
    };
    return {
      pid: child.pid,
      stderr: stderr.tail,
      post: (message) => {
        if (!gone) child.postMessage(message);
      },
      kill,
      onMessage: (listener) =>
        void child.on('message', (message: unknown) => {
          if (message !== LAST_WORD) return listener(message);
          if (gone) return;
          child.postMessage(LAST_WORD);
          const timer = setTimeout(() => end(child), EXIT_MS);
          child.once('exit', () => clearTimeout(timer));
        }),
      onExit: (listener) =>
        void child.once(
          'exit',
          (code) => void stderr.ended().then(() => listener(code, killed ? 'SIGKILL' : null, null)),
        ),
    };
  };
}

/** SIGTERM would let a computing process finish; a process that hasn't started yet has no pid. */
function end(child: UtilityProcess): void {
  const { pid } = child;
  if (pid === undefined) {
    child.once('spawn', () => end(child));
    return;
  }
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Already exited.
  }
}

/**
 * Electron removes all listeners from a child's stderr when it exits, and what the pipe still holds, usually the reason
 * for a crash, would be lost: we keep reading it into our own stream.
 */
function followStderr(child: UtilityProcess): { readonly tail: Readable; ended(): Promise<void> } {
  const tail = new PassThrough();
  const source = child.stderr;
  const take = (chunk: Uint8Array): void => void tail.write(chunk);
  source?.on('data', take);
  return {
    tail,
    ended: () =>
      new Promise((resolve) => {
        setImmediate(() => {
          source?.off('data', take).on('data', take);
          const finish = (): void => {
            clearTimeout(timer);
            tail.end();
            // Lets the reader receive what was just written.
            setImmediate(resolve);
          };
          const timer = setTimeout(finish, LAST_WORDS_MS);
          source === null ? finish() : source.once('end', finish);
        });
      }),
  };
}
