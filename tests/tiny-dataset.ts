/** A small interleave dataset in the words of the tiny test model. */
import { randomStream } from '../main/random.ts';
import { generateDataset, writeDataset } from '../main/services/datasets/index.ts';
import { tinyWords } from './tiny-model.ts';

const template = { name: 'short', version: 1, text: '<a> {fragment_a} <b> {fragment_b} <out>' };

export interface TinyDatasetOptions {
  readonly words?: number;
  readonly train?: number;
  readonly test?: number;
  /** How many different words the texts are made of. */
  readonly vocabulary?: number;
}

/** Records over made-up texts. */
export function tinyDataset({ words = 2, train = 12, test = 4, vocabulary = 8 }: TinyDatasetOptions = {}) {
  const texts = Array.from({ length: 6 }, (_, i) => {
    const stream = randomStream(5, i);
    const text = Array.from({ length: 40 }, () => tinyWords[stream.below(vocabulary)]).join(' ');
    return { id: `text-${i}`, title: `Text ${i}`, text, source: 'made' };
  });
  const made = generateDataset({ texts, words, train, test, seed: 3, template });
  if (made.kind === 'shortage') throw new Error(made.reason);
  return made;
}

/** Writes such a dataset as JSONL; gives the training file. */
export function writeTinyDataset(file: string, options?: TinyDatasetOptions): string {
  return writeDataset(file, tinyDataset(options)).train;
}
