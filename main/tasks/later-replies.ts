/** Replies of a thread that are waited for while this one does other work: each by its number, in any order. */
import type { SyncThread } from './sync-thread.ts';

export interface LaterReplies<Answer> {
  /** The reply of this number, which was asked for just now. */
  of(thread: Pick<SyncThread<never, Answer | Unnumbered>, 'later'>, number: number): Promise<Answer>;
}

/** Any other reply, which nobody waits for. */
interface Unnumbered {
  readonly kind: string;
}

/** `numberOf`: null: nobody waits for such a reply. `ended`: the thread has been silent for too long, or is gone: why. */
export function openLaterReplies<Answer extends Unnumbered>(
  silenceMs: number,
  numberOf: (reply: Answer | Unnumbered) => number | null,
  ended: () => Error,
): LaterReplies<Answer> {
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();

  async function hear({ later }: Pick<SyncThread<never, Answer | Unnumbered>, 'later'>): Promise<void> {
    while (waiting.size > 0) {
      const reply = await later(silenceMs);
      if (reply === null) {
        const error = ended();
        for (const one of waiting.values()) one.reject(error);
        waiting.clear();
        return;
      }
      const number = numberOf(reply);
      if (number === null) continue;
      waiting.get(number)?.resolve(reply as Answer);
      waiting.delete(number);
    }
  }

  return {
    of: (thread, number) => {
      const answer = Promise.withResolvers<Answer>();
      waiting.set(number, answer);
      if (waiting.size === 1) void hear(thread);
      return answer.promise;
    },
  };
}
