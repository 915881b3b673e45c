/** Calls tools outside the sandbox: a thread beside the trainer's asks them, many at a time, and each answer comes as it is there. */
import { BraidError } from '../../errors.ts';
import { startRemedy } from '../../io/start-reason.ts';
import { didNotStart } from '../../io/start-thread.ts';
import { openLaterReplies } from '../later-replies.ts';
import { type SyncThread, startSyncThread } from '../sync-thread.ts';
import { type CommandFiles, type ExternalAccess, reachOf } from './access.ts';
import { notAllowed, passedEnvironment } from './scorer.ts';
import type { CallResult, ToolsReply, ToolsRequest } from './tool-messages.ts';
import { type ToolSpec, toolPart } from './tool-spec.ts';

export interface ToolCaller {
  call(name: string, given: Readonly<Record<string, unknown>>): Promise<CallResult>;
  close(): void;
}

type Thread = SyncThread<ToolsRequest, ToolsReply>;
type Called = Extract<ToolsReply, { readonly kind: 'called' }>;

const THREAD = 'The thread that calls tools';
const START_MS = 60_000;
/** The thread gives a sign of life every second, whatever it waits for. */
const SILENCE_MS = 120_000;
const CLOSE_MS = 5000;

/** Opens it without a thread yet. `access`: null: the user wasn't asked, and nothing is reached. */
export function openToolCaller(
  { tools, files }: { readonly tools: Readonly<Record<string, ToolSpec>>; readonly files: CommandFiles },
  access: Pick<ExternalAccess, 'worker' | 'allowed' | 'keys'> | null,
): ToolCaller {
  let thread: Thread | null = null;
  let last = 0;

  function started(): Thread {
    for (const [name, spec] of Object.entries(tools)) {
      const hash = reachOf(toolPart(name), spec, files)?.hash ?? '';
      if (access === null || !access.allowed.includes(hash)) throw notAllowed(toolPart(name));
    }
    const { worker = '', keys = {} } = access ?? {};
    const fresh: Thread = startSyncThread(
      worker,
      { tools: { tools, files, access: { keys } } },
      { env: passedEnvironment() },
    );
    let first = fresh.next(START_MS);
    while (first?.kind === 'alive') first = fresh.next(START_MS);
    if (first?.kind === 'ready') return fresh;
    fresh.end();
    throw didNotStart('REWARD_THREAD', THREAD, first?.kind === 'refused' ? first.reason : fresh.fault());
  }

  const replies = openLaterReplies<Called>(
    SILENCE_MS,
    (reply) => (reply.kind === 'called' ? (reply as Called).id : null),
    () => {
      const fault = thread?.fault() ?? null;
      thread?.end();
      thread = null;
      return new BraidError('REWARD_THREAD', `${THREAD} ended${fault === null ? '' : `: ${fault}`}`, {
        remedy: `${(fault !== null && startRemedy(fault)) || 'Close other programs and try again.'} Checkpoints up to the last one are safe.`,
      });
    },
  );

  return {
    call: async (name, given) => {
      thread ??= started();
      const id = last++;
      thread.ask({ kind: 'call', id, name, given });
      return (await replies.of(thread, id)).result;
    },
    close: () => {
      // Its commands end with it.
      thread?.ask({ kind: 'close' });
      for (let reply = thread?.next(CLOSE_MS) ?? null; reply !== null && reply.kind !== 'closed'; )
        reply = thread?.next(CLOSE_MS) ?? null;
      thread?.end();
      thread = null;
    },
  };
}
