/** The contract over a WebSocket: `braid serve`. */
import { RPCHandler } from '@orpc/server/ws';
import type { WebSocket } from 'ws';
import type { ApiContext } from './context.ts';
import { router } from './router/index.ts';

/** Serves one page; its streams end with its socket. */
export function serveWebSocket(socket: WebSocket, context: ApiContext): void {
  void new RPCHandler(router).upgrade(socket, { context });
}
