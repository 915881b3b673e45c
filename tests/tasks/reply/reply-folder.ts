/** The reply task, written as somebody else would: its six components in reward.ts, with what 'braid' exports. */
import type { FolderSource } from '../../../main/tasks/folder/source.ts';

const DEFINITION = `title: Replies
fields: { prompt: text, post: text, reply: text }
prompt: '{prompt}'
target: '{reply}'
rewards: { relevance: 0.3, length: 0.1, sentiment: 0.1, diversity: 0.15, punctuation: 0.1, engagement: 0.25 }
success_threshold: 0.7
show: beside
`;

const REWARD = String.raw`import { type Answer, sentiment, similarity, words } from 'braid';

const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu;

function plainWords(text: string): string[] {
  return Array.from(text.normalize('NFC').toLowerCase().matchAll(WORD), ([word]) => word.replaceAll('’', "'"));
}

function runs(all: string[], n: number): string[] {
  return all.slice(n - 1).map((_, i) => all.slice(i, i + n).join(' '));
}

function distinct(all: string[], n: number): number {
  const some = runs(all, n);
  return some.length === 0 ? 1 : new Set(some).size / some.length;
}

function copied(post: string, reply: string): number {
  const known = new Set(runs(plainWords(post), 3));
  const said = runs(plainWords(reply), 3);
  return said.length === 0 ? 0 : said.filter((triple) => known.has(triple)).length / said.length;
}

function lengthOf(n: number): number {
  if (n < 8) return n / 8;
  return n <= 30 ? 1 : Math.max(0, (60 - n) / 30);
}

function punctuationOf(reply: string, all: string[]): number {
  const text = reply.trim();
  const ended = /[.!?…]["'”’)]*$/u.test(text);
  const calm = !/([!?.,;:])\1{3,}|[!?]{3,}/u.test(text) && (text.match(/[!?]/g)?.length ?? 0) <= 3;
  const loud = all.filter((word) => word.length > 3 && word === word.toUpperCase() && word !== word.toLowerCase());
  return (ended ? 0.5 : 0) + (calm ? 0.3 : 0) + (loud.length <= all.length / 4 ? 0.2 : 0);
}

export function reward({ record, completion }: Answer<{ post: string }>) {
  const plain = plainWords(completion);
  if (plain.length === 0)
    return { relevance: 0, length: 0, sentiment: 0, diversity: 0, punctuation: 0, engagement: 0 };
  const compound = sentiment(completion);
  const addresses = plain.some((word) => /^(?:you|your|yours|you'\w+)$/.test(word));
  return {
    relevance: Math.min(1, similarity(record.post, completion) / 0.4) * (1 - copied(record.post, completion)),
    length: lengthOf(words(completion).length),
    sentiment: (compound + 1) / 2,
    diversity: (distinct(plain, 1) + distinct(plain, 2)) / 2,
    punctuation: punctuationOf(completion, words(completion)),
    engagement: (/\?/.test(completion) ? 0.4 : 0) + (addresses ? 0.3 : 0) + 0.3 * Math.abs(compound),
  };
}
`;

export const replyFolder: FolderSource = {
  name: 'my-replies',
  folder: '/tasks/my-replies',
  definition: DEFINITION,
  reward: REWARD,
};
