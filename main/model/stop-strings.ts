/**
 * Strings that end a completion, found across the borders of tokens as transformers' StopStringCriteria does: in the bytes
 * of the last tokens, those of the prompt among them; a string counts when its end lies in the newest token.
 */
import { bytesOf, openTokenBytes } from './token-bytes.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Whether the last of a completion's tokens completes a stop string. */
export type StopTest = (prompt: readonly number[], completion: readonly number[]) => boolean;

/** The test for a tokenizer, by default of its own strings; undefined: there are none. */
export function openStops(
  tokenizer: Tokenizer,
  strings: readonly string[] = tokenizer.stopStrings,
): StopTest | undefined {
  if (strings.length === 0) return undefined;
  const stops = strings.map(bytesOf);
  const longest = Math.max(...stops.map(({ length }) => length));
  const bytes = openTokenBytes(tokenizer);
  return (prompt, completion) => {
    const last = bytes(completion.at(-1) ?? -1);
    let tail = last;
    for (let back = 2; tail.length < last.length + longest; back++) {
      const id = completion.at(-back) ?? prompt.at(completion.length - back);
      if (id === undefined) break;
      tail = bytes(id) + tail;
    }
    return stops.some((stop) => tail.indexOf(stop, Math.max(0, tail.length - last.length - stop.length + 1)) >= 0);
  };
}

/** A completion's text without what its last token has beyond the stop string that ended it. */
export function cutAfterStop(text: string, strings: readonly string[]): string {
  const ends = strings.flatMap((stop) => {
    const at = text.indexOf(stop);
    return at < 0 ? [] : [at + stop.length];
  });
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

/** The tokenizer whose texts end with one of its stop strings. */
export function withStops(tokenizer: Tokenizer): Tokenizer {
  const { stopStrings: strings } = tokenizer;
  if (strings.length === 0) return tokenizer;
  return { ...tokenizer, decode: (ids) => cutAfterStop(tokenizer.decode(ids), strings) };
}
