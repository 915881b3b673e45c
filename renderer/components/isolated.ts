/** A name that others chose, inside one of our sentences. Pure. */

/** Hebrew, Arabic and the scripts beside them, with their presentation forms, and marks that set a direction. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\u202a-\u202e\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The name so that a number after it stays there: without its own direction, `name · 12` would show as `12 · name`. */
export function isolated(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}
