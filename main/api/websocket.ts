/** The contract over a WebSocket: `braid serve`. */
import { StandardRPCHandler } from '@orpc/server/standard';
import { createServerPeerHandleRequestFn } from '@orpc/server/standard-peer';
import { ServerPeer } from '@orpc/standard-server-peer';
import type { RawData, WebSocket } from 'ws';
import type { ApiContext } from './context.ts';
import { router } from './router/index.ts';

/** The largest message without a file: lists of ids and pasted texts stay far below it. */
const MAX_JSON = 16 * 2 ** 20;
/** Between a message's JSON and its file; no byte of UTF-8. */
const DELIMITER = 0xff;

/** WebSocket close codes (RFC 6455, 7.4.1). */
const CANNOT_READ = 1007;
const TOO_BIG = 1009;

/**
 * Serves one page; its streams end with its socket. A frame that isn't a call closes the socket, and the page opens
 * another: oRPC's own handler would print a stack for each such frame and keep reading.
 */
export function serveWebSocket(socket: WebSocket, context: ApiContext): void {
  const answer = createServerPeerHandleRequestFn(new StandardRPCHandler(router, {}), { context });
  const peer = new ServerPeer(async (message) => socket.send(message));
  socket.on('message', async (data, isBinary) => {
    if (socket.readyState !== socket.OPEN) return;
    const frame = asBuffer(data);
    // Before it is made a string or parsed, each of which takes several times its size.
    if (jsonBytes(frame, isBinary) > MAX_JSON) return socket.close(TOO_BIG, 'Expected a smaller message');
    try {
      await peer.message(isBinary ? frame : frame.toString(), answer);
    } catch {
      // Whatever a procedure throws is part of its answer: only the frame itself is left, or a socket that has closed.
      socket.close(CANNOT_READ, 'Expected a call');
    }
  });
  socket.on('close', () => peer.close());
}

function jsonBytes(frame: Buffer, isBinary: boolean): number {
  const end = isBinary ? frame.subarray(0, MAX_JSON + 1).indexOf(DELIMITER) : -1;
  return end === -1 ? frame.length : end;
}

function asBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
