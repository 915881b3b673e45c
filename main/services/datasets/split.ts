/**
 * Which texts are for training and which for testing: determined by the seed, the same for every stage. A text whose
 * side was decided before keeps it, so that datasets made from a growing corpus don't train on one another's test texts.
 */
import { hashString, randomStream } from '../../random.ts';
import type { CorpusText } from '../texts/source-text.ts';

/** Disjoint training and test texts. */
export interface TextSplit {
  readonly train: readonly CorpusText[];
  readonly test: readonly CorpusText[];
}

/** The longest texts form one group of four, two for each side, so that four texts of any length suffice for both. */
const HEAD = 4;
const HEAD_TEST = 2;
/** Of every further five texts by length, one is for testing. */
const GROUP = 5;

/**
 * Splits texts by length: ordered from the longest, each group of neighbours gives its share to the test side at
 * random, unless as many of its texts are there already. Any stage uses a prefix of that order, so each has about a
 * fifth of its texts for testing.
 */
export function splitTexts(texts: readonly CorpusText[], seed: number): TextSplit {
  const ordered = [...texts].sort((a, b) => b.words - a.words || (a.hash < b.hash ? -1 : 1));
  const stream = randomStream(seed, hashString('split'));
  const testing = new Set(ordered.filter(({ side }) => side === 'test'));
  for (let start = 0; start < ordered.length; start += start === 0 ? HEAD : GROUP) {
    const group = ordered.slice(start, start + (start === 0 ? HEAD : GROUP));
    const first = stream.below(group.length);
    // An incomplete last group has a test text only if the draw among five selects one.
    if (start > 0 && group.length < GROUP && stream.next() >= group.length / GROUP) continue;
    const count = start === 0 ? Math.min(HEAD_TEST, Math.floor(group.length / 2)) : 1;
    const step = 1 + stream.below(Math.max(1, group.length - 1));
    const drawn = group.flatMap((_, k) => group[(first + k * step) % group.length] ?? []);
    const open = [...new Set([...drawn, ...group])].filter(({ side }) => side === undefined);
    const there = group.filter(({ side }) => side === 'test').length;
    for (const text of open.slice(0, Math.max(0, count - there))) testing.add(text);
  }
  return { train: ordered.filter((t) => !testing.has(t)), test: ordered.filter((t) => testing.has(t)) };
}
