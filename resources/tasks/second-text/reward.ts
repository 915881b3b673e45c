import { type Answer, alignment } from 'braid';

/** How much of the second text the completion is, word for word: with the first text before it about one half. */
export function reward({ record, completion }: Answer<{ second: string }>): number {
  return alignment(record.second, completion);
}
