import { type Answer, similarity, words } from 'braid';

/** Beyond the limit the first component falls, word by word, to 0 at one and a half times the limit. */
export function reward({ record, completion }: Answer<{ text: string; limit: number }>): Record<string, number> {
  const count = words(completion).length;
  if (count === 0) return { within: 0, about: 0 };
  const over = Math.max(0, count - record.limit) / (record.limit / 2);
  return { within: Math.max(0, 1 - over), about: similarity(record.text, completion) };
}
