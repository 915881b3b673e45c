/** A name that others chose, inside one of our sentences. Pure. */
import { visible } from './visible.ts';

/** Hebrew, Arabic and the scripts beside them, with their presentation forms. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The name so that a number after it stays there: without its own direction, `name · 12` would show as `12 · name`. */
export function isolated(name: string): string {
  const shown = visible(name);
  return RIGHT_TO_LEFT.test(shown) ? `\u2068${shown}\u2069` : shown;
}
