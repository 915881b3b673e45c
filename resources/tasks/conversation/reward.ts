import { type Answer, type Message, similarity } from 'braid';

/** How many subject words the answer shares with the conversation's own last turn, 0 to 1; without one all get 0. */
export function reward({ record, completion }: Answer<{ messages: readonly Message[] }>): number {
  const last = record.messages.at(-1);
  return last?.role === 'assistant' ? similarity(last.content ?? '', completion) : 0;
}
