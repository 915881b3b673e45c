/** Drawing pairs of fragments out of texts. */
import { type RandomStream, shuffled } from '../../random.ts';
import { sourceWords } from '../../text/source-words.ts';
import type { CorpusText } from '../texts/source-text.ts';
import { pairCapacity } from './supply.ts';

/** A sequence of words from a text. */
export interface Fragment {
  readonly title: string;
  readonly words: readonly string[];
}

export type FragmentPair = readonly [a: Fragment, b: Fragment];

/** The location of a pair: text and word offset of each side. */
type Cut = readonly [textA: number, offsetA: number, textB: number, offsetB: number];

/**
 * Draws `count` distinct pairs of exactly `words` words, each from two different texts. The texts must be long enough
 * for that many pairs (`pairCapacity`).
 */
export function drawPairs(
  texts: readonly CorpusText[],
  words: number,
  count: number,
  stream: RandomStream,
): FragmentPair[] {
  const sources = texts.map((text) => ({ title: text.title, words: sourceWords(text.text) }));
  const offsets = sources.map((source) => source.words.length - words + 1);
  // Rejection sampling slows down as the pairs run out; a small supply is listed and shuffled instead.
  const scarce = pairCapacity(texts, words) < 4 * count;
  const cuts = scarce ? shuffled(allCuts(offsets), stream).slice(0, count) : drawnCuts(offsets, count, stream);
  const fragment = (text: number, offset: number): Fragment => {
    const source = sources[text];
    return { title: source?.title ?? '', words: source?.words.slice(offset, offset + words) ?? [] };
  };
  return cuts.map(([a, offsetA, b, offsetB]) => [fragment(a, offsetA), fragment(b, offsetB)]);
}

/** All texts are equally likely, so that long texts don't crowd out the rest. */
function drawnCuts(offsets: readonly number[], count: number, stream: RandomStream): Cut[] {
  const cuts = new Map<string, Cut>();
  while (cuts.size < count) {
    const a = stream.below(offsets.length);
    const other = stream.below(offsets.length - 1);
    const b = other < a ? other : other + 1;
    const cut: Cut = [a, stream.below(offsets[a] ?? 0), b, stream.below(offsets[b] ?? 0)];
    cuts.set(cut.join(), cut);
  }
  return [...cuts.values()];
}

function allCuts(offsets: readonly number[]): Cut[] {
  const cuts: Cut[] = [];
  offsets.forEach((ofA, a) => {
    offsets.forEach((ofB, b) => {
      if (a === b) return;
      for (let i = 0; i < ofA; i++) for (let j = 0; j < ofB; j++) cuts.push([a, i, b, j]);
    });
  });
  return cuts;
}
