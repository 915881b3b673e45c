/**
 * Sentiment by VADER (Hutto and Gilbert 2014, "VADER: a parsimonious rule-based model for sentiment analysis of social
 * media text", ICWSM): a lexicon of valences and a handful of rules. The lexicon is the one of the vader-sentiment
 * package; the rules are implemented here, because the package's own disagree with the reference on two of VADER's
 * published examples. The reference is nltk 3.10: its order of rules is kept, oddities included, so that scores are
 * equal. Emoji are ignored, as in nltk.
 */
// The renderer's compiler sees imported files only, so the types of the lexicon are referenced here.
/// <reference path="./vader-lexicon.d.ts" />
import { lexicon } from 'vader-sentiment/src/vader_lexicon.js';
import { BOOST, degrees, idioms, negations, wordMarks } from './vader-words.ts';
import { splitWords } from './words.ts';

/** Shares of negative, neutral and positive words, and the overall score from −1 to 1. */
export interface Sentiment {
  readonly neg: number;
  readonly neu: number;
  readonly pos: number;
  readonly compound: number;
}

const valences = new Map(Object.entries(lexicon));
/** Added for a word in capitals among others that aren't. */
const CAPITALS = 0.733;
const NEGATION = -0.74;
/** Factor of a degree adverb one, two or three words before. */
const FADING = [1, 0.95, 0.9] as const;
/** Maps an unbounded sum to −1 … 1: sum / sqrt(sum² + ALPHA). */
const ALPHA = 15;
const PUNCTUATION = /[!-/:-@[-`{-~]/g;

/** The words of a text with what the rules need to know about them. */
interface Words {
  readonly plain: readonly string[];
  readonly lower: readonly string[];
  /** Whether some words, but not all, are in capitals. */
  readonly mixedCase: boolean;
}

/** The sentiment of a text, rounded as VADER rounds it. */
export function sentimentOf(text: string): Sentiment {
  const words = wordsOf(text);
  const scores = withBut(
    words,
    words.plain.map((word) => wordScore(words, words.plain.indexOf(word))),
  );
  if (scores.length === 0) return { neg: 0, neu: 0, pos: 0, compound: 0 };
  const emphasis = emphasisOf(text);
  const sum = scores.reduce((total, score) => total + score, 0);
  const emphasised = sum + Math.sign(sum) * emphasis;
  return { ...shares(scores, emphasis), compound: rounded(emphasised / Math.sqrt(emphasised ** 2 + ALPHA), 4) };
}

/** Strips punctuation around a word unless the bare word doesn't occur in the text (emoticons). */
function wordsOf(text: string): Words {
  const bare = new Set(splitWords(text.replace(PUNCTUATION, '')).filter((word) => [...word].length > 1));
  const plain = splitWords(text)
    .filter((word) => [...word].length > 1)
    .map((word) => trimmed(word, bare));
  const capitals = plain.filter(isCapital).length;
  return { plain, lower: plain.map((word) => word.toLowerCase()), mixedCase: capitals > 0 && capitals < plain.length };
}

function trimmed(word: string, bare: ReadonlySet<string>): string {
  for (const mark of wordMarks) {
    const before = word.slice(0, -mark.length);
    if (word.endsWith(mark) && bare.has(before)) return before;
  }
  for (const mark of wordMarks) {
    const after = word.slice(mark.length);
    if (word.startsWith(mark) && bare.has(after)) return after;
  }
  return word;
}

function isCapital(word: string): boolean {
  return word === word.toUpperCase() && word !== word.toLowerCase();
}

/** The valence of one word as modified by its neighbours. A repeated word is judged by its first position. */
function wordScore(words: Words, i: number): number {
  const { lower } = words;
  const word = lower[i] ?? '';
  if (degrees.has(word) || (word === 'kind' && lower[i + 1] === 'of')) return 0;
  const own = valences.get(word);
  if (own === undefined) return 0;
  let valence = own;
  if (isCapital(words.plain[i] ?? '') && words.mixedCase) valence += valence > 0 ? CAPITALS : -CAPITALS;
  for (const distance of [1, 2, 3] as const) {
    const neighbour = lower[i - distance];
    if (neighbour === undefined || valences.has(neighbour)) continue;
    valence += degreeOf(words, i - distance, valence) * FADING[(distance - 1) as 0 | 1 | 2];
    valence = withNegation(words, i, distance, valence);
    if (distance === 3) valence = withIdioms(words, i, valence);
  }
  return withLeast(lower, i, valence);
}

function degreeOf({ plain, lower, mixedCase }: Words, at: number, valence: number): number {
  const degree = degrees.get(lower[at] ?? '');
  if (degree === undefined) return 0;
  const signed = valence < 0 ? -degree : degree;
  if (!(isCapital(plain[at] ?? '') && mixedCase)) return signed;
  return signed + (valence > 0 ? CAPITALS : -CAPITALS);
}

/** "never so good" strengthens; any other negation before a word inverts it. */
function withNegation({ plain, lower }: Words, i: number, distance: 1 | 2 | 3, valence: number): number {
  const strengthens = (at: number): boolean => plain[at] === 'so' || plain[at] === 'this';
  if (distance === 2 && plain[i - 2] === 'never' && strengthens(i - 1)) return valence * 1.5;
  // The reference reads "(never … so) or so": a "so" right before is enough here.
  if (distance === 3 && ((plain[i - 3] === 'never' && strengthens(i - 2)) || strengthens(i - 1))) return valence * 1.25;
  return isNegation(lower[i - distance] ?? '') ? valence * NEGATION : valence;
}

function isNegation(word: string): boolean {
  return negations.has(word) || word.includes("n't");
}

function withIdioms({ plain }: Words, i: number, valence: number): number {
  const phrase = (from: number, to: number): string => plain.slice(from, to + 1).join(' ');
  const before = [phrase(i - 1, i), phrase(i - 2, i), phrase(i - 2, i - 1), phrase(i - 3, i - 1), phrase(i - 3, i - 2)];
  let found = before.map((words) => idioms.get(words)).find((score) => score !== undefined) ?? valence;
  if (i + 1 < plain.length) found = idioms.get(phrase(i, i + 1)) ?? found;
  if (i + 2 < plain.length) found = idioms.get(phrase(i, i + 2)) ?? found;
  return degrees.has(phrase(i - 3, i - 2)) || degrees.has(phrase(i - 2, i - 1)) ? found - BOOST : found;
}

/** "least" inverts the word after it, except in "at least" and "very least". */
function withLeast(lower: readonly string[], i: number, valence: number): number {
  if (lower[i - 1] !== 'least') return valence;
  const spared = lower[i - 2] === 'at' || lower[i - 2] === 'very';
  return spared ? valence : valence * NEGATION;
}

/** The part after the first "but" counts more than the part before it. */
function withBut({ lower }: Words, scores: readonly number[]): readonly number[] {
  const but = lower.indexOf('but');
  if (but < 0) return scores;
  return scores.map((score, i) => (i < but ? score * 0.5 : i > but ? score * 1.5 : score));
}

/** At most four exclamation marks, and question marks from the second on. */
function emphasisOf(text: string): number {
  const exclamations = Math.min(text.split('!').length - 1, 4);
  const questions = text.split('?').length - 1;
  const asked = questions < 2 ? 0 : questions <= 3 ? questions * 0.18 : 0.96;
  return exclamations * 0.292 + asked;
}

/** Each word counts its valence plus 1, since neutral ones count 1; the stronger side gets the emphasis. */
function shares(scores: readonly number[], emphasis: number): Pick<Sentiment, 'neg' | 'neu' | 'pos'> {
  let pos = 0;
  let neg = 0;
  let neu = 0;
  for (const score of scores) {
    if (score > 0) pos += score + 1;
    else if (score < 0) neg += 1 - score;
    else neu++;
  }
  if (pos > neg) pos += emphasis;
  else if (neg > pos) neg += emphasis;
  const total = pos + neg + neu;
  return { neg: rounded(neg / total, 3), neu: rounded(neu / total, 3), pos: rounded(pos / total, 3) };
}

/** Rounds to some decimals as Python does: a value exactly between two goes to the even one. */
function rounded(value: number, digits: number): number {
  const scaled = Math.abs(value) * 10 ** digits;
  const below = Math.floor(scaled);
  const between = /^50*$/.test(value.toFixed(60).split('.')[1]?.slice(digits) ?? '');
  return between
    ? (Math.sign(value) * (below % 2 === 0 ? below : below + 1)) / 10 ** digits
    : Number(value.toFixed(digits));
}
