/** The contract over a MessagePort: Electron's main process and its page, or two threads in a test. */
import { RPCHandler } from '@orpc/server/message-port';
import type { ApiContext } from './context.ts';
import { router } from './router/index.ts';

type Port = Parameters<RPCHandler<ApiContext>['upgrade']>[0];

/** Serves one page; its streams end when its port closes. */
export function serveMessagePort(port: Port, context: ApiContext): void {
  new RPCHandler(router).upgrade(port, { context });
}
