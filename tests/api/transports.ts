/** The contract from both sides of both transports, on a real app with a tiny model. */
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { createORPCClient } from '@orpc/client';
import { RPCLink as PortLink } from '@orpc/client/message-port';
import { RPCLink as SocketLink } from '@orpc/client/websocket';
import type { ContractRouterClient } from '@orpc/contract';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { ApiContext } from '../../main/api/context.ts';
import type { Contract } from '../../main/api/contract/index.ts';
import { serveMessagePort } from '../../main/api/message-port.ts';
import { openPathAccess } from '../../main/api/path-access.ts';
import { type Serving, serve } from '../../main/serve.ts';
import { type App, openApp } from '../../main/services/app/app.ts';
import { type TinyWorkspace, tinyWorkspace } from '../services/tiny-workspace.ts';
import { enterPage } from './page-entry.ts';

export type Client = ContractRouterClient<Contract>;

/** Opens the app on a tiny workspace; the workspace's own store is closed, since the app has one. */
export function openTinyApp(world: Pick<TinyWorkspace, 'root' | 'paths'>): App {
  const keyFile = join(world.root, 'workspace-key');
  const app = openApp({ workspace: world.root, paths: world.paths, what: 'a test', keyFile });
  // Runs are saved first, which takes a while on a busy machine.
  onTestFinished(() => app.close(), 60_000);
  return app;
}

export function contextOf(app: App, mayLaunch = false): ApiContext {
  const host = { kind: 'serve', version: '0.0.0', dialogs: null, mayLaunch } as const;
  return { app, host, access: openPathAccess(app.workspace.root, [app.workspace.root]) };
}

/** Node's ports listen as a page's do; the types of both libraries know the page's only. */
type ServedPort = Parameters<typeof serveMessagePort>[0];

export interface Transport {
  readonly client: Client;
  /** Ends the line from the page's side. */
  close(): void;
}

/** Two ports in one process: what Electron has between main and page. */
export async function overPorts(context: ApiContext): Promise<Transport> {
  const { port1, port2 } = new MessageChannel();
  serveMessagePort(port1 as unknown as ServedPort, context);
  port1.start();
  port2.start();
  onTestFinished(() => port2.close());
  const link = new PortLink({ port: port2 as unknown as ServedPort });
  return { client: createORPCClient(link), close: () => port2.close() };
}

/** An app on a tiny workspace, and a page's line to it. */
export async function openTinyClient() {
  const world = await tinyWorkspace();
  const app = openTinyApp(world);
  const { client } = await overPorts(contextOf(app));
  return { world, app, client };
}

/** `braid serve` and a socket that knocks as its own page would. */
export async function overSocket(context: ApiContext): Promise<Transport> {
  const serving = await serveForTest(context);
  const entry = await enterPage(serving.url);
  const socket = new WebSocket(entry.socket, { headers: entry.headers });
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  onTestFinished(() => socket.terminate());
  const link = new SocketLink({ websocket: socket as unknown as globalThis.WebSocket });
  return { client: createORPCClient(link), close: () => socket.terminate() };
}

/** Serves a page of one file. */
export async function serveForTest(context: ApiContext): Promise<Serving> {
  const serving = await serve({ context, page: join(import.meta.dirname, 'page'), port: 0 });
  onTestFinished(() => serving.close());
  return serving;
}
