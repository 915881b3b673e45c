/** The thread's side of an environment: what it is asked, each answered as soon as the server has answered. */

import { partsOf } from '../../lists.ts';
import type { ServedProgram, ServedReply, ServedRequest } from '../../tasks/openenv/messages.ts';
import { pagesOf } from '../../tasks/openenv/spec.ts';
import { type ReplyLine, replyPoster } from '../../tasks/sync-thread.ts';
import { openPlayer, type Stepped } from './player.ts';
import { openServer } from './server.ts';
import type { Got } from './session.ts';

/** A server may have place for one, and time for each. */
const STARTS_AT_ONCE = 8;

/** Answers on the line until it is closed. */
export function serveEnvironment({ access, files, ...played }: ServedProgram, line: ReplyLine): void {
  const post = replyPoster<ServedReply>(line);
  const spec = played.server;
  const key = spec.command === null ? (access.keys[new URL(pagesOf(spec.openenv)).origin] ?? null) : null;
  const server = openServer(spec, files);
  const player = openPlayer(played, server, key);
  const step = async (turn: Parameters<typeof player.step>[0], place: number): Promise<void> => {
    // What throws here is ours, and ends one completion only.
    const stepped = await player.step(turn).catch((error: unknown): Stepped => {
      return { step: `environment: ${error instanceof Error ? error.message : String(error)}`, changed: false };
    });
    post({ kind: 'stepped', place, ...stepped });
  };
  const answer = async (request: ServedRequest): Promise<void> => {
    switch (request.kind) {
      case 'step':
        await Promise.all(request.turns.map((turn, i) => step(turn, request.first + i)));
        return;
      case 'release':
        return player.release();
      case 'examine':
        return post({ kind: 'examined', ...(await player.examine(request.record)) });
      case 'describe':
        return post({ kind: 'described', description: await player.describe() });
      case 'starts': {
        const messages: Got<string>[] = [];
        for (const part of partsOf(request.resets, STARTS_AT_ONCE))
          messages.push(...(await Promise.all(part.map((reset) => player.start(reset, request.message)))));
        const told = messages.map((one) => ('got' in one ? { text: one.got } : { failure: one.failure }));
        return post({ kind: 'started', messages: told });
      }
      case 'close':
        player.release();
        await server.close();
        return post({ kind: 'closed' });
    }
  };
  line.port.on('message', (request: ServedRequest) => void answer(request));
  post({ kind: 'ready' });
}
