/** The text of a completion as its tokens come: whole characters only, and nothing that may turn out to be a stop string. */
import type { Tokenizer } from './tokenizer.ts';

/** What can be shown now. */
export interface Flowed<T> {
  readonly text: string;
  /** Those whose text, or its beginning, is shown by now. */
  readonly tokens: readonly T[];
}

export interface TextFlow<T> {
  /** Adds a token; `stopped`: its text completes a stop string, which is left out with what follows it. */
  push(id: number, token: T): Flowed<T> & { readonly stopped: boolean };
  /** What was held back. */
  end(): Flowed<T>;
}

/** Tokens before the new one that are decoded with it: its text may depend on them. */
const BESIDE = 4;
/** Bytes of a character that aren't one are shown as such after so many tokens. */
const LONGEST_CHARACTER = 4;

/** `prompt`: tokens whose text this one continues, so that a space between the two is not lost. */
export function openTextFlow<T>(
  { decode }: Pick<Tokenizer, 'decode'>,
  stops: readonly string[],
  prompt: readonly number[] = [],
): TextFlow<T> {
  const beside = prompt.slice(-BESIDE);
  // Bytes that its last character lacks would come out as part of the prompt.
  const ids = decode(beside).endsWith('\uFFFD') ? [] : beside;
  // The text up to `read` ids is settled; it is decoded again from `from` on. `grown`: ids when it was last longer.
  let [from, read, grown] = [0, ids.length, ids.length];
  let [settled, text, shown] = ['', '', 0];
  let waiting: { readonly token: T; readonly start: number }[] = [];

  const take = (until: number): Flowed<T> => {
    const now = text.slice(shown, until);
    shown = Math.max(shown, until);
    const ready = waiting.filter(({ start }) => start < shown || shown === text.length);
    waiting = waiting.filter((one) => !ready.includes(one));
    return { text: now, tokens: ready.map(({ token }) => token) };
  };

  return {
    push: (id, token) => {
      waiting.push({ token, start: text.length });
      ids.push(id);
      const before = text.length;
      const known = decode(ids.slice(from, read));
      const more = decode(ids.slice(from)).slice(known.length);
      // The last character may lack bytes; what is before it doesn't wait for them.
      const whole = ids.length - grown <= LONGEST_CHARACTER ? more.replace(/\uFFFD+$/, '') : more;
      text = settled + whole;
      if (text.length > before) grown = ids.length;
      if (whole.length === more.length) {
        [settled, read, grown] = [text, ids.length, ids.length];
        from = Math.max(0, read - BESIDE);
      }
      const found = firstStop(text, stops, before);
      if (found !== null) {
        text = text.slice(0, found);
        waiting = waiting.filter(({ start }) => start < found);
        return { ...take(found), stopped: true };
      }
      return { ...take(Math.max(shown, text.length - held(text, stops))), stopped: false };
    },
    end: () => {
      text = settled + decode(ids.slice(from)).slice(decode(ids.slice(from, read)).length);
      return take(text.length);
    },
  };
}

/** Where the first stop string begins that ends after `before`; null: none does. */
function firstStop(text: string, stops: readonly string[], before: number): number | null {
  const places = stops.map((stop) => text.indexOf(stop, Math.max(0, before - stop.length + 1))).filter((at) => at >= 0);
  return places.length === 0 ? null : Math.min(...places);
}

/** How many of the last characters may begin a stop string. */
function held(text: string, stops: readonly string[]): number {
  let most = 0;
  for (const stop of stops)
    for (let length = Math.min(stop.length - 1, text.length); length > most; length--)
      if (text.endsWith(stop.slice(0, length))) most = length;
  return most;
}
