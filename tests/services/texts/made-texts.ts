/** Made-up texts for tests: words from a small random vocabulary, so that none resembles another. */
import { randomStream } from '../../../main/random.ts';
import { type CorpusText, corpusText } from '../../../main/services/texts/source-text.ts';

/** A text of exactly that many words. */
export function madeText(index: number, words: number): CorpusText {
  const stream = randomStream(99, index);
  const text = Array.from({ length: words }, () => `w${stream.below(5000)}`).join(' ');
  return corpusText({ id: `text-${index}`, title: `Text ${index}`, text, source: 'made' });
}

/** One text of each length. */
export function madeTexts(...lengths: readonly number[]): CorpusText[] {
  return lengths.map((words, i) => madeText(i, words));
}
