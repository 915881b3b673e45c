import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Listens on a free port of this machine; its address. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((open) => server.listen(0, '127.0.0.1', open));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Listens until the test ends. */
export function listenInTest(server: Server): Promise<string> {
  onTestFinished(() => closeServer(server));
  return listen(server);
}

export function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
