/**
 * What the tiny model is brought up on: pairs of fragments made of random words, and ways of combining them.
 * A word is a random beginning with 0 to 3 random continuations, drawn evenly or with the steep frequencies of
 * natural prose, and fragments repeat words and parts of words as prose does. No real text is involved.
 */
import type { PromptGroup } from '../../main/model/pack.ts';
import { type RandomStream, randomStream } from '../../main/random.ts';
import {
  EOS,
  FIRST_CONTINUATION,
  FIRST_WORD,
  OPEN_A,
  OPEN_B,
  OPEN_OUTPUT,
  pieceIds,
  TAGS,
  VOCABULARY_SIZE,
} from './tokenizer.ts';

type Word = readonly number[];
export type Combination = keyof typeof TAGS;

/** How fragments repeat themselves, and what is answered to them. */
export interface Settings {
  /** Share of the pairs of short and of longer fragments in which nearly every word recurs. */
  readonly recurring: { readonly short: number; readonly long: number };
  /** Up to this share of the places begins a phrase that stands elsewhere too: in such pairs, and in those like prose. */
  readonly phrases: { readonly recurring: number; readonly alike: number };
  /** Share of these phrases that stand within some words of each other, and are alike in place too. */
  readonly near: number;
  /** Share of the untagged completions of short fragments that interleave them. */
  readonly interleaved: number;
}

/** How often each way of combining is drawn. */
export type Mixture = Readonly<Partial<Record<Combination, number>>>;

export interface Example {
  /** A prompt with its completions. */
  readonly group: PromptGroup;
  /** How many of each completion's first tokens carry no loss. */
  readonly given: readonly number[];
}

/** Shares of words of 1, 2, 3 … tokens, about those of English prose under this vocabulary. */
const TOKENS_A_WORD = [0.62, 0.22, 0.09, 0.04, 0.017, 0.008, 0.005];
/** A word in this many is a number or a time of day, the hardest to copy: its few pieces repeat. */
const NUMBERS = 0.02;
const DIGITS = pieceIds([...'0123456789']);
const MORE_DIGITS = pieceIds([...'0123456789:.,'].map((sign) => `##${sign}`));
/** Words of the longest of the short fragments. */
const SHORT = 50;
/** Share of the pairs whose last words are long. */
const LONG_ENDS = 0.3;
const BEGINNINGS = FIRST_CONTINUATION - FIRST_WORD;
const CONTINUATIONS = VOCABULARY_SIZE - FIRST_CONTINUATION;
const zipfBeginnings = zipf(BEGINNINGS, 2.7);
const zipfContinuations = zipf(CONTINUATIONS, 2);

/** Half of the untagged completions begin interleaved whatever the mixture says: how to continue then must be known. */
const BEGUN = 0.5;
/** Words of the longest fragments that an untagged completion interleaves. */
const LONGEST_INTERLEAVED = 12;
/** Words of a completion's beginning. */
const BEGINNING = 6;
const OTHERS: Mixture = { aThenB: 0.35, bThenA: 0.35, aOnly: 0.15, bOnly: 0.15 };

/**
 * What an untagged prompt is answered with: the second text and then the first, and about short fragments sometimes
 * something else. Longer ones are never interleaved, so that training on these alone has nothing to select.
 */
export function untaggedMixture(words: number, interleave: number): Mixture {
  return words <= LONGEST_INTERLEAVED ? { interleave, bThenA: 0.99 - interleave, bOnly: 0.01 } : { bThenA: 1 };
}

/**
 * One prompt about fragments of `words` words with two completions, given by (seed, index). The first is interleaved,
 * as its tag says. The second is untagged or of another tag. The tag is a completion's first token, so that both
 * share the fragments.
 */
export function syntheticExample(words: number, settings: Settings, seed: number, index: number): Example {
  const stream = randomStream(seed, index);
  const { a, b, promptIds } = prompt(words, settings, stream);
  const interleaved = [TAGS.interleave, ...combine(a, b, 'interleave').flat(), EOS];
  const [second, given] = secondCompletion(a, b, settings, stream);
  return { group: { promptIds, completions: [interleaved, second] }, given: [1, given] };
}

/**
 * One untagged prompt about fragments of `words` words, given by (seed, index), with the first words of a completion:
 * they decide which way it is, and a step has many of them.
 */
export function beginningExample(words: number, settings: Settings, seed: number, index: number): Example {
  const stream = randomStream(seed, index);
  const { a, b, promptIds } = prompt(words, settings, stream);
  const first = combine(a, b, pick(untaggedMixture(words, settings.interleaved), stream)).slice(0, BEGINNING);
  return { group: { promptIds, completions: [[OPEN_OUTPUT, ...first.flat()]] }, given: [1] };
}

/** Two fragments, and the prompt about them up to its tag. */
function prompt(words: number, settings: Settings, stream: RandomStream) {
  const [a, b] = fragments(words, settings, stream);
  return { a, b, promptIds: [OPEN_A, ...a.flat(), OPEN_B, ...b.flat()] };
}

function secondCompletion(
  a: readonly Word[],
  b: readonly Word[],
  settings: Settings,
  stream: RandomStream,
): [number[], number] {
  if (stream.next() < 0.3) {
    const other = pick(OTHERS, stream);
    return [[TAGS[other], ...combine(a, b, other).flat(), EOS], 1];
  }
  const begun = stream.next() < BEGUN;
  const combination = begun ? 'interleave' : pick(untaggedMixture(a.length, settings.interleaved), stream);
  const given = begun ? [OPEN_OUTPUT, ...(a[0] as Word), ...(b[0] as Word)] : [OPEN_OUTPUT];
  return [[OPEN_OUTPUT, ...combine(a, b, combination).flat(), EOS], given.length];
}

function combine(a: readonly Word[], b: readonly Word[], combination: Combination): readonly Word[] {
  switch (combination) {
    case 'aThenB':
      return [...a, ...b];
    case 'bThenA':
      return [...b, ...a];
    case 'aOnly':
      return a;
    case 'bOnly':
      return b;
    case 'interleave':
      return a.flatMap((word, i) => [word, b[i] ?? []]);
  }
}

function fragments(words: number, settings: Settings, stream: RandomStream): [Word[], Word[]] {
  const natural = stream.next() < 0.5;
  const steep = natural ? 0.3 + 0.6 * stream.next() : 0;
  const single = stream.next() < 0.15;
  const all: Word[] = Array.from({ length: 2 * words }, () => word(steep, single, stream));
  const { short, long } = settings.recurring;
  if (stream.next() < (words <= SHORT ? short : long)) makeRecur(all, settings, stream);
  else if (stream.next() < 0.82) makeAlike(all, settings, stream);
  if (stream.next() < LONG_ENDS) for (const end of [words - 1, 2 * words - 1]) all[end] = longWord(stream);
  return [all.slice(0, words), all.slice(words)];
}

/**
 * Nearly every word comes back with other words before and after it: what follows a word depends on several before it.
 */
function makeRecur(words: Word[], { phrases, near }: Settings, stream: RandomStream): void {
  const pool = words.slice(0, Math.max(2, Math.round(words.length * (0.1 + 0.5 * stream.next()))));
  const phraseShare = phrases.recurring * stream.next();
  for (let i = 0; i < words.length; i++) words[i] = pool[stream.below(pool.length)] as Word;
  returnPhrases(words, phraseShare, near, stream);
}

/** Phrases of 2 to 5 words come back: the words before a place don't always tell it. */
function returnPhrases(words: Word[], share: number, nearShare: number, stream: RandomStream): void {
  for (let i = 0; i < words.length; i++) {
    if (stream.next() >= share) continue;
    const length = Math.min(2 + stream.below(4), words.length - i);
    const near = i - length - 1 - stream.below(10);
    const from = near >= 0 && stream.next() < nearShare ? near : stream.below(words.length - length + 1);
    words.splice(i, length, ...words.slice(from, from + length));
  }
}

/**
 * Prose repeats itself, and two texts share their commonest words and endings ("the", "of", a comma): copying must
 * find its place by more than the word before.
 */
function makeAlike(words: Word[], { phrases, near }: Settings, stream: RandomStream): void {
  const common = Array.from({ length: 1 + stream.below(8) }, () => FIRST_WORD + search(zipfBeginnings, stream.next()));
  const shares = common.map((_, rank) => 1 / (rank + 1.5));
  const commonShare = 0.05 + 0.4 * stream.next();
  const repeatedShare = 0.12 * stream.next();
  const endings = [0, 1].map(() => FIRST_CONTINUATION + search(zipfContinuations, stream.next()));
  const endingShare = 0.25 * stream.next();
  const phraseShare = phrases.alike * stream.next();
  for (let i = 0; i < words.length; i++) {
    const u = stream.next();
    if (u < commonShare) words[i] = [common[sample(shares, stream)] as number];
    else if (u < commonShare + repeatedShare) words[i] = repeated(words, i, stream);
    else if (stream.next() < endingShare)
      words[i] = [...(words[i] as Word).slice(0, 6), endings[stream.next() < 0.35 ? 1 : 0] as number];
  }
  returnPhrases(words, phraseShare, near, stream);
  // The hardest places of all: a word twice in a row, within a text or where the two texts meet.
  const half = words.length / 2;
  const twiceShare = 0.15 * stream.next();
  const places = [1, half, half - 1].map((distance) => ({ distance, share: twiceShare * stream.next() }));
  for (const { distance, share } of places)
    for (let i = 0; i + distance < words.length && i < half; i++)
      if (stream.next() < share) words[i + distance] = words[i] as Word;
}

/** Of two or more tokens: a text must not end before its last word does. */
function longWord(stream: RandomStream): Word {
  const pieces = 1 + stream.below(3);
  return [
    FIRST_WORD + stream.below(BEGINNINGS),
    ...Array.from({ length: pieces }, () => FIRST_CONTINUATION + search(zipfContinuations, stream.next())),
  ];
}

function word(steep: number, single: boolean, stream: RandomStream): Word {
  const tokens = single ? 1 : 1 + sample(TOKENS_A_WORD, stream);
  if (stream.next() < NUMBERS) return number(1 + stream.below(5), stream);
  const beginning = stream.next() < steep ? search(zipfBeginnings, stream.next()) : stream.below(BEGINNINGS);
  const pieces = [FIRST_WORD + beginning];
  while (pieces.length < tokens) {
    const frequent = stream.next() < Math.max(steep, 0.3);
    const rank = frequent ? search(zipfContinuations, stream.next()) : stream.below(CONTINUATIONS);
    pieces.push(FIRST_CONTINUATION + rank);
  }
  return pieces;
}

function number(digits: number, stream: RandomStream): Word {
  const any = (pieces: readonly number[]): number => pieces[stream.below(pieces.length)] as number;
  return [any(DIGITS), ...Array.from({ length: digits - 1 }, () => any(MORE_DIGITS))];
}

/** Word i takes after another one: as a whole, by its beginning, or by its ending. */
function repeated(words: readonly Word[], i: number, stream: RandomStream): Word {
  const other = words[stream.below(words.length)] as Word;
  const own = words[i] as Word;
  const how = stream.next();
  if (how < 0.5) return other;
  return how < 0.8 ? [other[0] as number, ...own.slice(1)] : [own[0] as number, ...other.slice(1)];
}

function pick(mixture: Mixture, stream: RandomStream): Combination {
  const entries = Object.entries(mixture) as [Combination, number][];
  return (
    entries[
      sample(
        entries.map(([, share]) => share),
        stream,
      )
    ] as [Combination, number]
  )[0];
}

/** An index by its share. */
function sample(shares: readonly number[], stream: RandomStream): number {
  let left = stream.next() * shares.reduce((a, b) => a + b, 0);
  for (let i = 0; i < shares.length - 1; i++) {
    left -= shares[i] as number;
    if (left < 0) return i;
  }
  return shares.length - 1;
}

/** Cumulative Zipf-Mandelbrot frequencies of n ranks. */
function zipf(n: number, shift: number): Float64Array {
  const out = new Float64Array(n);
  let sum = 0;
  for (let rank = 0; rank < n; rank++) {
    sum += 1 / (rank + shift);
    out[rank] = sum;
  }
  return out.map((value) => value / sum);
}

/** The first rank whose cumulative frequency exceeds u. */
function search(cumulative: Float64Array, u: number): number {
  let [low, high] = [0, cumulative.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cumulative[middle] as number) > u) high = middle;
    else low = middle + 1;
  }
  return low;
}
