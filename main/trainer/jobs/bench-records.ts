/** Prompts of random words from a model's own vocabulary: <a> words <b> words <out>. */
import { inputError } from '../../errors.ts';
import type { Tokenizer } from '../../model/tokenizer.ts';
import { hashString, type RandomStream, randomStream } from '../../random.ts';
import type { InterleaveRecord } from '../../tasks/interleave/record.ts';
import { interleaveWords } from '../../tasks/interleave/target.ts';
import type { TokenRecord } from '../batching/prompts.ts';

interface Word {
  readonly id: number;
  readonly text: string;
}

const WORD = /^\s?\p{L}+$/u;

/** `count` records of two fragments of `words` words, each word one token. */
export function benchRecords(tokenizer: Tokenizer, count: number, words: number, seed: number): TokenRecord[] {
  const stream = randomStream(seed, hashString('bench'));
  return Array.from({ length: count }, (_, i) => {
    const a = drawWords(tokenizer, words, stream);
    const b = drawWords(tokenizer, words, stream);
    return benchRecord(tokenizer, `bench-${i}`, a, b);
  });
}

function benchRecord(tokenizer: Tokenizer, id: string, a: readonly Word[], b: readonly Word[]): TokenRecord {
  const text = (list: readonly Word[]): string => list.map((word) => word.text).join(' ');
  const ids = (list: readonly Word[]): number[] => list.map((word) => word.id);
  const target = interleaveWords(
    a.map((word) => word.text),
    b.map((word) => word.text),
  ).join(' ');
  const record: InterleaveRecord = {
    id,
    words: a.length,
    title_a: 'a',
    title_b: 'b',
    fragment_a: text(a),
    fragment_b: text(b),
    prompt: `<a> ${text(a)} <b> ${text(b)} <out>`,
    target,
  };
  const promptIds = [
    ...tag(tokenizer, '<a>'),
    ...ids(a),
    ...tag(tokenizer, '<b>'),
    ...ids(b),
    ...tag(tokenizer, '<out>'),
  ];
  return { record, promptIds, targetIds: a.flatMap((word, i) => [word.id, b[i]?.id ?? word.id]) };
}

/** One token if the vocabulary has the tag, otherwise spelled out. */
function tag(tokenizer: Tokenizer, name: string): number[] {
  const id = tokenizer.tokenId(name);
  return id === undefined ? tokenizer.encode(name) : [id];
}

function drawWords(tokenizer: Tokenizer, count: number, stream: RandomStream): Word[] {
  return Array.from({ length: count }, () => drawWord(tokenizer, stream));
}

/** Special tokens decode to nothing, and pieces with digits or symbols aren't words: draw again. */
function drawWord(tokenizer: Tokenizer, { next }: RandomStream): Word {
  for (let tries = 0; tries < 10_000; tries++) {
    const id = Math.floor(next() * tokenizer.idLimit);
    const text = tokenizer.decode([id]);
    if (WORD.test(text)) return { id, text: text.trim() };
  }
  throw inputError('NO_WORDS', "The model's vocabulary seems to contain no words: none in 10,000 draws");
}
