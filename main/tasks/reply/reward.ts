/**
 * The heuristic reward of a reply: six components, each from 0 to 1, all 0 for a reply without words. It is cheap
 * to compute and can be gamed; `referenceOverlap` measures something that no component rewards.
 * docs/metrics.md has the formulas in words.
 */
import { distinctN } from '../../text/repetition.ts';
import { sentimentOf } from '../../text/sentiment.ts';
import { type InverseDocumentFrequency, plainWords, stems, tfidfCosine } from '../../text/terms.ts';
import { splitWords } from '../../text/words.ts';

/** The order used everywhere, including `reward_weights`. */
export const replyRewards = ['relevance', 'length', 'sentiment', 'diversity', 'punctuation', 'engagement'] as const;
export type ReplyReward = (typeof replyRewards)[number];

/** They add up to 1, so the reward is also from 0 to 1. */
const WEIGHTS: Readonly<Record<ReplyReward, number>> = {
  relevance: 0.3,
  length: 0.1,
  sentiment: 0.1,
  diversity: 0.15,
  punctuation: 0.1,
  engagement: 0.25,
};
export const defaultWeights: readonly number[] = replyRewards.map((name) => WEIGHTS[name]);

/** A reply at least this similar to its post counts as fully relevant: short texts share few words even on one subject. */
const FULL_COSINE = 0.4;
const COMFORT = { least: 8, most: 30, end: 60 } as const;
/** Exclamation and question marks allowed in a short reply. */
const MARKS = 3;

/** All components of one reply; `similarity`: how similar it is to the post, from 0 to 1. */
export function scoreReply(post: string, reply: string, similarity: number): Readonly<Record<ReplyReward, number>> {
  const words = splitWords(reply);
  const { compound } = sentimentOf(reply);
  if (plainWords(reply).length === 0)
    return { relevance: 0, length: 0, sentiment: 0, diversity: 0, punctuation: 0, engagement: 0 };
  return {
    relevance: similarity * (1 - copiedShare(post, reply)),
    length: lengthScore(words.length),
    sentiment: (compound + 1) / 2,
    diversity: (distinctN([plainWords(reply)], 1) + distinctN([plainWords(reply)], 2)) / 2,
    punctuation: punctuationScore(reply, words),
    engagement: engagementScore(reply, compound),
  };
}

/** Lexical similarity: the cosine of the TF-IDF vectors of stems, full from 0.4. */
export function lexicalSimilarity(post: string, reply: string, idf: InverseDocumentFrequency): number {
  return Math.min(1, tfidfCosine(stems(post), stems(reply), idf) / FULL_COSINE);
}

/** The share of a reply's three-word sequences that also occur in the post: an echo is not a reply. */
function copiedShare(post: string, reply: string): number {
  const of = (text: string): string[] => {
    const words = plainWords(text);
    return words.slice(2).map((_, i) => words.slice(i, i + 3).join(' '));
  };
  const known = new Set(of(post));
  const said = of(reply);
  return said.length === 0 ? 0 : said.filter((triple) => known.has(triple)).length / said.length;
}

/** Rises to 1 at 8 words, stays to 30, falls to 0 at 60. */
function lengthScore(words: number): number {
  if (words < COMFORT.least) return words / COMFORT.least;
  if (words <= COMFORT.most) return 1;
  return Math.max(0, (COMFORT.end - words) / (COMFORT.end - COMFORT.most));
}

/** 0.5 for ending punctuation, 0.3 for few and unrepeated marks, 0.2 for not shouting. */
function punctuationScore(reply: string, words: readonly string[]): number {
  const text = reply.trim();
  const ended = /[.!?…]["'”’)]*$/u.test(text);
  const calm = !/([!?.,;:])\1{3,}|[!?]{3,}/u.test(text) && (text.match(/[!?]/g)?.length ?? 0) <= MARKS;
  const shouted = words.filter((word) => word.length > 3 && word === word.toUpperCase() && word !== word.toLowerCase());
  const quiet = shouted.length <= words.length / 4;
  return (ended ? 0.5 : 0) + (calm ? 0.3 : 0) + (quiet ? 0.2 : 0);
}

/** 0.4 for a question, 0.3 for speaking to the person, 0.3 times the sentiment's strength. */
function engagementScore(reply: string, compound: number): number {
  const asks = /\?/.test(reply);
  const addresses = plainWords(reply).some((word) => /^(?:you|your|yours|you'\w+)$/.test(word));
  return (asks ? 0.4 : 0) + (addresses ? 0.3 : 0) + 0.3 * Math.abs(compound);
}

/**
 * F1 of the stems that a reply shares with the human reply. The reward doesn't use it, so a reward that climbs while this
 * doesn't is being gamed, or the model has found different replies.
 */
export function referenceOverlap(reference: string, reply: string): number {
  const wanted = countsOf(stems(reference));
  const got = countsOf(stems(reply));
  const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0);
  let shared = 0;
  for (const [stem, count] of got) shared += Math.min(count, wanted.get(stem) ?? 0);
  const all = sum(wanted) + sum(got);
  return all === 0 ? 0 : (2 * shared) / all;
}

function countsOf(terms: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
