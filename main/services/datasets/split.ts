/** Which texts train and which test: decided by the seed alone, the same for every stage. */
import { hashString, randomStream } from '../../random.ts';
import type { CorpusText } from '../corpora/source-text.ts';

/** Texts in two sides that share none. */
export interface TextSplit {
  readonly train: readonly CorpusText[];
  readonly test: readonly CorpusText[];
}

/** The longest texts come in one group of four, two to each side, so four texts of any length serve both sides. */
const HEAD = 4;
const HEAD_TEST = 2;
/** Of every further five neighbours in length, one tests. */
const GROUP = 5;

/**
 * Splits texts by length: ordered from the longest, each group of neighbours gives its share to the test side at
 * random. Any stage takes a beginning of that order, so each has about a fifth of its texts for testing.
 */
export function splitTexts(texts: readonly CorpusText[], seed: number): TextSplit {
  const ordered = [...texts].sort((a, b) => b.words - a.words || (a.hash < b.hash ? -1 : 1));
  const stream = randomStream(seed, hashString('split'));
  const testing = new Set<CorpusText>();
  for (let start = 0; start < ordered.length; start += start === 0 ? HEAD : GROUP) {
    const group = ordered.slice(start, start + (start === 0 ? HEAD : GROUP));
    const first = stream.below(group.length);
    // A last group that is not full tests only if its draw among five says so.
    if (start > 0 && group.length < GROUP && stream.next() >= group.length / GROUP) continue;
    const count = start === 0 ? Math.min(HEAD_TEST, Math.floor(group.length / 2)) : 1;
    const step = 1 + stream.below(Math.max(1, group.length - 1));
    for (let k = 0; k < count; k++) {
      const chosen = group[(first + k * step) % group.length];
      if (chosen !== undefined) testing.add(chosen);
    }
  }
  return { train: ordered.filter((t) => !testing.has(t)), test: ordered.filter((t) => testing.has(t)) };
}
