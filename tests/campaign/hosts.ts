/** The program's hosts as processes that a campaign may kill: the command, `braid serve`, the desktop app. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import type { ContractRouterClient } from '@orpc/contract';
import { WebSocket } from 'ws';
import type { Contract } from '../../main/api/contract/index.ts';
import { enterPage, type PageEntry } from '../api/page-entry.ts';

const root = resolve(import.meta.dirname, '../..');

export type Client = ContractRouterClient<Contract>;

export interface Command {
  readonly process: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

/** Starts `braid ARGUMENTS`; `node`: arguments of Node's own. */
export function startCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  node: readonly string[] = [],
): Command {
  const child = spawn(process.execPath, [...node, join(root, 'main/braid.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] = (output[name] + text).slice(-1_000_000);
    });
  return { process: child, ended: new Promise((end) => child.on('close', (code) => end({ code, ...output }))) };
}

export interface ServeHost {
  readonly process: ChildProcess;
  readonly port: number;
  readonly url: string;
  readonly exited: Promise<number | null>;
  stderr(): string;
  hasEnded(): boolean;
  /** A page's line to it; `close` ends it. */
  connect(): Promise<{ readonly client: Client; readonly socket: WebSocket; close(): void }>;
  /** Memory in use after a collection, in MiB. */
  collected(): Promise<number>;
  /** Opens the printed address as a browser would. */
  enter(): Promise<PageEntry>;
  stop(): Promise<void>;
}

/** Starts `braid serve` on a free port. */
export async function startServe(workspace: string): Promise<ServeHost> {
  const args = ['serve', '--workspace', workspace, '--port', '0', '--json'];
  // Models come from nowhere: nothing that is asked for may reach the network.
  const watched = ['--expose-gc', '--import', pathToFileURL(join(import.meta.dirname, 'collect.ts')).href];
  const command = startCommand(args, { HF_ENDPOINT: 'http://127.0.0.1:9' }, watched);
  let stderr = '';
  command.process.stderr?.on('data', (text: string) => {
    stderr = (stderr + text).slice(-100_000);
  });
  let ended = false;
  const exited = command.ended.then(({ code }) => {
    ended = true;
    return code;
  });
  const line = await new Promise<string>((tell) => {
    let text = '';
    command.process.stdout?.on('data', (part: string) => {
      text += part;
      if (text.includes('\n')) tell(text);
    });
    void exited.then(() => tell(text));
  });
  if (!line.includes('\n')) throw new Error(`Expected braid serve to start, but it ended: ${stderr}`);
  const { url, port } = JSON.parse(line) as { readonly url: string; readonly port: number };
  const enter = (): Promise<PageEntry> => enterPage(url);
  return {
    process: command.process,
    port,
    url,
    exited,
    enter,
    stderr: () => stderr,
    hasEnded: () => ended,
    collected: () =>
      new Promise((tell, fail) => {
        let text = '';
        const listen = (part: string): void => {
          text += part;
          const bytes = /^collected (\d+)$/m.exec(text)?.[1];
          if (bytes === undefined) return;
          command.process.stderr?.off('data', listen);
          tell(Number(bytes) / 2 ** 20);
        };
        command.process.stderr?.on('data', listen);
        void exited.then(() => fail(new Error('Expected memory after a collection, but the host ended')));
        command.process.kill('SIGUSR2');
      }),
    connect: async () => {
      const { socket: address, headers } = await enter();
      const socket = new WebSocket(address, { headers });
      await new Promise((open, fail) => {
        socket.on('open', open);
        socket.on('error', fail);
      });
      // Node's sockets speak as a page's do; the library's types know the page's only.
      const link = new RPCLink({ websocket: socket as unknown as globalThis.WebSocket });
      return { client: createORPCClient(link), socket, close: () => socket.terminate() };
    },
    stop: async () => {
      command.process.kill('SIGTERM');
      const killer = setTimeout(() => command.process.kill('SIGKILL'), 20_000);
      await exited;
      clearTimeout(killer);
    },
  };
}

/** The processes that a process has started, on Linux. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Memory and open files of a process, on Linux. */
export function usageOf(pid: number): { readonly memoryMiB: number; readonly descriptors: number } {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return { memoryMiB: (pages * 4096) / 2 ** 20, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/**
 * Watches a process's memory from now on, on Linux: `grownMiB` is its highest resident size since, above where it began.
 * Elsewhere it stays 0.
 */
export function peakMemory(pid: number): { grownMiB(): number } {
  try {
    // Sets the peak back to what is in use.
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    const before = peakOf(pid);
    return { grownMiB: () => peakOf(pid) - before };
  } catch {
    return { grownMiB: () => 0 };
  }
}

function peakOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
