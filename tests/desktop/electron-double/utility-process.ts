/** Utility processes as forks of this Node, with Electron's behaviour: no id at first, stderr released at exit. */
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type * as Electron from 'electron';
import { called } from './report.ts';

const shim = new URL('./parent-port.ts', import.meta.url).href;

const LATE_MS = 50;

class UtilityProcess extends EventEmitter {
  readonly #child: ChildProcess;
  #spawned = false;
  stderr: PassThrough | null;

  constructor(entry: string, args: readonly string[], env: NodeJS.ProcessEnv | undefined) {
    super();
    this.stderr = new PassThrough();
    const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const;
    const execArgv = ['--import', shim];
    this.#child = fork(entry, args, { execArgv, serialization: 'advanced', stdio: [...stdio], env });
    // As there, what was written last can be read only after the exit.
    const { stderr } = this;
    this.#child.stderr?.on('data', (chunk) => setTimeout(() => stderr.write(chunk), LATE_MS));
    this.#child.stderr?.on('end', () => setTimeout(() => stderr.end(), LATE_MS));
    this.#child.on('spawn', () => {
      this.#spawned = true;
      called('utilityProcess.spawn', this.#child.pid);
      this.emit('spawn');
    });
    this.#child.on('message', (message) => this.emit('message', message));
    this.#child.on('exit', (code) => {
      this.emit('exit', code ?? 9);
      this.stderr?.removeAllListeners();
      this.stderr = null;
    });
  }

  get pid(): number | undefined {
    return this.#spawned ? this.#child.pid : undefined;
  }

  postMessage(message: unknown): void {
    if (this.#child.connected) this.#child.send(message as object);
  }

  kill(): boolean {
    return this.#child.kill('SIGTERM');
  }
}

export const utilityProcess = {
  fork: (entry: string, args: string[] = [], options: Electron.ForkOptions = {}) => {
    called('utilityProcess.fork', entry, args, options);
    return new UtilityProcess(
      entry,
      args,
      options.env as NodeJS.ProcessEnv | undefined,
    ) as unknown as Electron.UtilityProcess;
  },
} satisfies Pick<typeof Electron.utilityProcess, 'fork'>;
