/** `braid serve` in a process of its own, spoken to over its socket as its page does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { enterPage } from '../api/page-entry.ts';
import type { Client } from '../api/transports.ts';
import { BRAID } from '../processes/paths.ts';

export interface Host {
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  readonly exited: Promise<void>;
  stderr(): string;
}

export interface Limits {
  /** No file may grow beyond this. */
  readonly fileKiB?: number;
}

/** Starts it on a free port; it ends with the test. */
export async function startHost(workspace: string, args: readonly string[] = [], limits: Limits = {}): Promise<Host> {
  const command = [BRAID, 'serve', '--workspace', workspace, '--port', '0', '--json', ...args];
  const [program, ...given] = limited([process.execPath, ...command], limits);
  const child = spawn(program ?? '', given, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = new Promise<void>((end) => child.on('close', () => end()));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const said = await new Promise<string>((tell) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (text.includes('\n')) tell(text);
    });
    child.on('close', () => tell(text));
  });
  if (said === '') throw new Error(`Expected braid serve to start, but it ended: ${stderr}`);
  const { url, port } = JSON.parse(said) as { url: string; port: number };
  return { url, port, process: child, exited, stderr: () => stderr };
}

/** The shell sets the limit, then becomes the program. */
function limited(command: readonly string[], { fileKiB }: Limits): readonly string[] {
  return fileKiB === undefined ? command : ['bash', '-c', `ulimit -f ${fileKiB}; exec "$@"`, 'bash', ...command];
}

/** A client over a socket of its own. */
export async function connectTo({ url }: Pick<Host, 'url'>): Promise<Client> {
  const { socket: address, headers } = await enterPage(url);
  const socket = new WebSocket(address, { headers });
  await new Promise((open, fail) => {
    socket.on('open', open);
    socket.on('error', fail);
  });
  onTestFinished(() => socket.terminate());
  return createORPCClient(new RPCLink({ websocket: socket as unknown as globalThis.WebSocket }));
}
