/**
 * Generates datasets/sample_replies.jsonl and its held-out part: short posts and replies, all made up here, with random
 * engagement counts. `node scripts/reply-sample/make.ts`.
 *
 * A pair is a post and a reply of the same mood about the same subject (grammar.ts). Engagement is log-normal (most
 * replies get a few likes, some get hundreds) and slightly higher for replies with a question or that address the
 * person, as studies of social posts find (docs/metrics.md). It contains no real person, post or count.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashString, type RandomStream, randomStream, shuffled } from '../../main/random.ts';
import { fill, MOODS, SUBJECTS } from './grammar.ts';

const TRAIN_PAIRS = 480;
const TEST_PAIRS = 64;
const SEED = 11;

interface Pair {
  readonly post: string;
  readonly reply: string;
}

/** Every post with two or three replies of its mood, in random order. */
function allPairs(stream: RandomStream): Pair[] {
  const pairs = SUBJECTS.flatMap(([thing, part]) =>
    MOODS.flatMap(({ posts, replies }) =>
      posts.flatMap((post) =>
        shuffled(replies, stream)
          .slice(0, 2 + stream.below(2))
          .map((reply) => ({ post: fill(post, thing, part), reply: fill(reply, thing, part) })),
      ),
    ),
  );
  return shuffled(pairs, stream);
}

/** Most get a few likes, some hundreds; reposts and replies are proportionally fewer. */
function engagement(reply: string, stream: RandomStream) {
  const pull = (reply.includes('?') ? 0.5 : 0) + (/\byou/i.test(reply) ? 0.3 : 0);
  const likes = Math.floor(Math.exp(1.2 + pull + 1.25 * normal(stream)));
  return {
    likes,
    reposts: Math.floor(likes * 0.12 * stream.next() * 2),
    replies: Math.floor(likes * (reply.includes('?') ? 0.2 : 0.08) * stream.next() * 2),
  };
}

/** Box-Muller: one normal from two uniforms. */
function normal(stream: RandomStream): number {
  return Math.sqrt(-2 * Math.log(1 - stream.next())) * Math.cos(2 * Math.PI * stream.next());
}

const stream = randomStream(SEED, hashString('reply-sample'));
const pairs = allPairs(stream);
const testPosts = new Set(pairs.slice(0, TEST_PAIRS).map(({ post }) => post));
const sides = {
  'sample_replies.test.jsonl': firstOfEach(pairs.filter(({ post }) => testPosts.has(post))).slice(0, TEST_PAIRS),
  'sample_replies.jsonl': pairs.filter(({ post }) => !testPosts.has(post)).slice(0, TRAIN_PAIRS),
};
for (const [name, side] of Object.entries(sides)) {
  const lines = side.map(({ post, reply }, i) =>
    JSON.stringify({
      id: `made-${name.includes('test') ? 'test' : 'train'}-${String(i + 1).padStart(4, '0')}`,
      post,
      reply,
      engagement: engagement(reply, stream),
    }),
  );
  writeFileSync(join(import.meta.dirname, '../../datasets', name), `${lines.join('\n')}\n`);
}

/** One reply per post: held-out prompts must differ. */
function firstOfEach(list: readonly Pair[]): Pair[] {
  return [...new Map(list.map((pair) => [pair.post, pair])).values()];
}
