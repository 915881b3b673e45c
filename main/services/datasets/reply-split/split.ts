/**
 * Splits reply records for two phases. The unit is the post, so that the sides share none, and the split is stratified
 * by quartile of engagement, so that both sides get their share of the rare replies that many readers liked.
 */
import { inputError } from '../../../errors.ts';
import { hashString, randomStream, shuffled } from '../../../random.ts';
import { engagementCount, type ReplyRecord } from '../../../tasks/reply/record.ts';
import { counted } from '../../../text/format.ts';
import { quantile } from '../../../text/intervals.ts';
import { countWords, normalizeText } from '../../../text/words.ts';

export interface SplitOptions {
  /** Share of posts in the first phase, between 0 and 1. */
  readonly ratio: number;
  readonly seed: number;
}

/** Records in numbers; field names as in `--json`. */
export interface SplitStatistics {
  readonly records: number;
  readonly posts: number;
  readonly mean_engagement: number;
  readonly median_engagement: number;
  readonly highest_engagement: number;
  readonly mean_reply_words: number;
  /** Records in each quartile of the whole dataset's engagement, lowest first. */
  readonly quartiles: readonly number[];
}

export interface SplitCheck {
  readonly name: 'posts_disjoint' | 'quartile_shares' | 'duplicates' | 'quartiles_filled';
  readonly ok: boolean;
  readonly detail: string;
}

export interface ReplySplit {
  readonly sft: readonly ReplyRecord[];
  readonly grpo: readonly ReplyRecord[];
  /** Removed duplicates: the ids, each with the id of the record it repeats. */
  readonly duplicates: readonly { readonly id: string; readonly of: string }[];
  /** Engagement at the quartile boundaries. */
  readonly borders: readonly [number, number, number];
  readonly before: SplitStatistics;
  readonly after: { readonly sft: SplitStatistics; readonly grpo: SplitStatistics };
  readonly checks: readonly SplitCheck[];
}

/** A quartile's share on a side may differ from the ratio by this much, and by one record in small sets. */
const TOLERANCE = 0.05;

/** Splits records; throws for a ratio that leaves a side empty. */
export function splitReplies(records: readonly ReplyRecord[], { ratio, seed }: SplitOptions): ReplySplit {
  if (!(ratio > 0 && ratio < 1))
    throw inputError('BAD_SPLIT', `Expected the split ratio to be between 0 and 1, got ${ratio}`);
  const { kept, duplicates } = withoutCopies(records);
  const borders = quartileBorders(kept);
  const posts = postsOf(kept, borders);
  if (posts.length < 2)
    throw inputError(
      'BAD_SPLIT',
      `Expected at least two different posts to split, got ${posts.length}`,
      'A post and all its replies stay on one side.',
    );
  const first = dealPosts(posts, ratio, seed);
  const sft = kept.filter((record) => first.has(postKey(record)));
  const grpo = kept.filter((record) => !first.has(postKey(record)));
  if (sft.length === 0 || grpo.length === 0)
    throw inputError(
      'BAD_SPLIT',
      `Expected records on both sides, got ${sft.length} and ${grpo.length} at a ratio of ${ratio}`,
      'Use a ratio nearer to 0.5, or more posts.',
    );
  const before = statisticsOf(kept, borders);
  const after = { sft: statisticsOf(sft, borders), grpo: statisticsOf(grpo, borders) };
  const checks = [
    disjoint(sft, grpo),
    quartileShares(before, after.sft, sft.length / kept.length),
    quartilesFilled(before),
    noCopies(duplicates),
  ];
  return { sft, grpo, duplicates, borders, before, after, checks };
}

/** Posts are compared ignoring case and spacing. */
function postKey({ post }: ReplyRecord): string {
  return normalizeText(post);
}

function withoutCopies(records: readonly ReplyRecord[]) {
  const first = new Map<string, string>();
  const duplicates: { id: string; of: string }[] = [];
  const kept = records.filter((record) => {
    const key = `${postKey(record)}\n${normalizeText(record.reply)}`;
    const of = first.get(key);
    if (of === undefined) first.set(key, record.id);
    else duplicates.push({ id: record.id, of });
    return of === undefined;
  });
  return { kept, duplicates };
}

function quartileBorders(records: readonly ReplyRecord[]): readonly [number, number, number] {
  const sorted = records.map(({ engagement }) => engagementCount(engagement)).sort((a, b) => a - b);
  if (sorted.length === 0) throw inputError('BAD_SPLIT', 'Expected records to split, got none');
  return [quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)];
}

/** 0 the lowest to 3. Equal counts stay together, so with many of them a quartile can be empty. */
function quartileOf(count: number, borders: readonly number[]): number {
  return borders.filter((border) => count > border).length;
}

/** A post with its weight in records, in the quartile of its best reply. */
interface Post {
  readonly key: string;
  readonly quartile: number;
  readonly records: number;
}

function postsOf(records: readonly ReplyRecord[], borders: readonly number[]): Post[] {
  const posts = new Map<string, Post>();
  for (const record of records) {
    const key = postKey(record);
    const quartile = quartileOf(engagementCount(record.engagement), borders);
    const known = posts.get(key);
    posts.set(key, {
      key,
      quartile: Math.max(quartile, known?.quartile ?? 0),
      records: (known?.records ?? 0) + 1,
    });
  }
  return [...posts.values()];
}

/** The posts of the first side: in each quartile, drawn in random order until the ratio of its records is reached. */
function dealPosts(posts: readonly Post[], ratio: number, seed: number): ReadonlySet<string> {
  const first = new Set<string>();
  // Rounding up in one quartile is balanced in the next.
  let owed = 0;
  for (const quartile of [0, 1, 2, 3]) {
    const own = shuffled(
      posts.filter((post) => post.quartile === quartile),
      randomStream(seed, hashString('reply-split'), quartile),
    );
    owed += ratio * own.reduce((sum, { records }) => sum + records, 0);
    for (const { key, records } of own) {
      if (owed < records / 2) continue;
      first.add(key);
      owed -= records;
    }
  }
  return first;
}

function statisticsOf(records: readonly ReplyRecord[], borders: readonly number[]): SplitStatistics {
  const counts = records.map(({ engagement }) => engagementCount(engagement)).sort((a, b) => a - b);
  const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
  const quartiles = [0, 1, 2, 3].map((q) => counts.filter((count) => quartileOf(count, borders) === q).length);
  return {
    records: records.length,
    posts: new Set(records.map(postKey)).size,
    mean_engagement: mean(counts),
    median_engagement: quantile(counts, 0.5),
    highest_engagement: counts.at(-1) ?? 0,
    mean_reply_words: mean(records.map(({ reply }) => countWords(reply))),
    quartiles,
  };
}

function disjoint(sft: readonly ReplyRecord[], grpo: readonly ReplyRecord[]): SplitCheck {
  const known = new Set(sft.map(postKey));
  const shared = grpo.filter((record) => known.has(postKey(record))).length;
  return {
    name: 'posts_disjoint',
    ok: shared === 0,
    detail:
      shared === 0
        ? 'no post is on both sides'
        : `${counted(shared, 'record of one side has', 'records of one side have')} a post from the other`,
  };
}

function quartileShares(before: SplitStatistics, sft: SplitStatistics, share: number): SplitCheck {
  const off = before.quartiles.map((all, q) => {
    const own = sft.quartiles[q] ?? 0;
    return all === 0 ? 0 : Math.max(0, Math.abs(own - share * all) - 1) / all;
  });
  const worst = Math.max(...off);
  const shares = before.quartiles.map((all, q) => (all === 0 ? '–' : ((sft.quartiles[q] ?? 0) / all).toFixed(2)));
  return {
    name: 'quartile_shares',
    ok: worst <= TOLERANCE,
    detail: `${shares.join(', ')} of the quartiles are in phase 1, expected ${share.toFixed(2)} ± ${TOLERANCE}`,
  };
}

function quartilesFilled({ quartiles }: SplitStatistics): SplitCheck {
  const empty = quartiles.flatMap((count, q) => (count === 0 ? [q + 1] : []));
  const [last, ...others] = [...empty].reverse();
  const which =
    others.length === 0 ? `quartile ${last} is` : `quartiles ${others.reverse().join(', ')} and ${last} are`;
  return {
    name: 'quartiles_filled',
    ok: last === undefined,
    detail:
      last === undefined ? 'every quartile has records' : `${which} empty: too many replies have the same engagement`,
  };
}

function noCopies(duplicates: ReplySplit['duplicates']): SplitCheck {
  const [first] = duplicates;
  return {
    name: 'duplicates',
    ok: first === undefined,
    detail:
      first === undefined
        ? 'no duplicates'
        : `${counted(duplicates.length, 'duplicate')} removed, for example "${first.id}" of "${first.of}"`,
  };
}
