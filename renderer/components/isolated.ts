/** A name that others chose, inside one of our sentences. Pure. */

/** Hebrew, Arabic and the scripts beside them, with their presentation forms. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** The name so that a number after it stays there: without its own direction, `name · 12` would show as `12 · name`. */
export function isolated(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}
