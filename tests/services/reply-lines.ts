/** Reply records in the words of the tiny test model, as lines of a file. */
import { tinyWords } from '../tiny-model.ts';

/** So many records, each with a post of its own. */
export function replyLines(count: number): string {
  const word = (i: number): string => tinyWords[i % 20] ?? '';
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      id: `r${i}`,
      post: `${word(i)} ${word(i * 3 + 1)} ${word(Math.floor(i / 20))}`,
      reply: `${word(i)} ${word(i + 1)}`,
      engagement: { likes: i, reposts: 0, replies: 0 },
    }),
  ).join('\n');
}
