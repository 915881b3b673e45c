import { describe, expect, it } from 'vitest';
import { openStops } from '../../main/model/stop-strings.ts';
import { openTextFlow } from '../../main/model/text-flow.ts';
import type { Tokenizer } from '../../main/model/tokenizer.ts';

/** GPT-2's character of a byte. */
const characterOf = (byte: number): string => {
  const plain = (one: number): boolean =>
    (one >= 0x21 && one <= 0x7e) || (one >= 0xa1 && one <= 0xac) || (one >= 0xae && one <= 0xff);
  const others = Array.from({ length: 256 }, (_, one) => one).filter((one) => !plain(one));
  return String.fromCodePoint(plain(byte) ? byte : 0x100 + others.indexOf(byte));
};

/** A tokenizer whose tokens are these bytes, as a byte-level BPE decodes them. */
function tokenizerOf(tokens: readonly Buffer[]): Tokenizer {
  return {
    bytesAs: 'characters',
    encode: () => [0],
    token: (id: number) => [...(tokens[id] ?? [])].map(characterOf).join(''),
    decode: (ids: readonly number[]) => Buffer.concat(ids.map((id) => tokens[id] ?? Buffer.of())).toString(),
  } as unknown as Tokenizer;
}

/** The bytes of a text cut at places that a seed chooses, inside characters too. */
function piecesOf(text: string, seed: number): Buffer[] {
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  let state = seed;
  for (let at = 0; at < bytes.length; ) {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    const length = 1 + (Math.floor(state / 65536) % 6);
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

const TEXTS = [
  ['One. Two\n\nQuestion: three', ['\n\n', 'Question:']],
  ['Ein Fähnchen 🚩🚩 wéht </s>\nnow', ['</s>', 'never']],
  ['aaab aab ab', ['aab']],
  ['日本語のテキスト。次の文', ['。', '次']],
  ['the end🙂', ['end']],
] as const;

describe('openTextFlow', () => {
  it.each(TEXTS)('ends %j with the token with which transformers ends it, before the first of %j', (text, stops) => {
    for (let seed = 1; seed <= 60; seed++) {
      const pieces = piecesOf(text, seed);
      const tokenizer = tokenizerOf(pieces);
      const isAt = openStops(tokenizer, stops);
      const ids = pieces.map((_, i) => i);
      const last = ids.find((i) => isAt?.([], ids.slice(0, i + 1)));
      const flow = openTextFlow<number>(tokenizer, stops);
      let shown = '';
      const reported: number[] = [];
      const ended = ids.find((i) => {
        const { text: more, tokens, stopped } = flow.push(i, i);
        shown += more;
        reported.push(...tokens);
        return stopped;
      });
      const at = Math.min(...stops.map((stop) => text.indexOf(stop)).filter((place) => place >= 0));
      expect({ seed, ended, shown }).toEqual({ seed, ended: last, shown: text.slice(0, at) });
      // Each token once, in order, and none that only begins after it.
      expect(reported).toEqual(ids.slice(0, reported.length));
    }
  });

  it('gives the whole text in the end where nothing stops it', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const [text] = TEXTS[1];
      const pieces = piecesOf(text, seed);
      const flow = openTextFlow<number>(tokenizerOf(pieces), ['absent']);
      const shown = pieces.map((_, i) => flow.push(i, i).text).join('');
      expect(shown + flow.end().text).toBe(text);
    }
  });

  it('keeps the space between a prompt and its continuation', () => {
    const words = [' The', ' sea', ' is', ' blue', ' today'];
    // As decoders of SentencePiece do.
    const decode = (ids: readonly number[]): string =>
      ids
        .map((id) => words[id])
        .join('')
        .trimStart();
    const flow = openTextFlow<number>({ decode }, [], [0, 1, 2]);
    expect(flow.push(3, 3)).toEqual({ text: ' blue', tokens: [3], stopped: false });
    expect(flow.push(4, 4).text).toBe(' today');
    expect(openTextFlow<number>({ decode }, []).push(3, 3).text).toBe('blue');
  });

  it('loses nothing after a prompt that ends within a character', () => {
    const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
    const flow = openTextFlow<number>(tokenizerOf([first, second, Buffer.from('t')]), [], [0]);
    expect(flow.push(1, 1).text + flow.push(2, 2).text).toBe('\uFFFDt');
  });
});
