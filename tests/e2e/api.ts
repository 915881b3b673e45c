/** A client of the app's contract for tests that drive a page: it sets up what the page then shows. */
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import type { ContractRouterClient } from '@orpc/contract';
import { WebSocket } from 'ws';
import type { Contract } from '../../main/api/contract/index.ts';
import { enterPage } from '../api/page-entry.ts';
import { atEndOfFile } from '../end-of-file.ts';
import type { RunningApp } from './app.ts';

/** Connects as the app's own page would; the connection closes with the test file. */
export async function connectTo({ url }: Pick<RunningApp, 'url'>): Promise<ContractRouterClient<Contract>> {
  const { socket: address, headers } = await enterPage(url);
  const socket = new WebSocket(address, { headers });
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  atEndOfFile(() => socket.terminate());
  // Node's sockets behave like a page's, but the library's types only accept the page's.
  return createORPCClient(new RPCLink({ websocket: socket as unknown as globalThis.WebSocket }));
}
