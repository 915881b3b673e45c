/** Text that a terminal shows as it is. */

/** Control characters except line breaks and tabs, and those that show what follows in another order. */
const HIDDEN = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

/** Escapes what would control a terminal: texts of models, files and servers must not hide or rewrite what is shown. */
export function visible(text: string): string {
  return escaped(text.replace(/\r\n?|[\u2028\u2029]/g, '\n'));
}

/** A fault for a log, with its stack where it has one. */
export function visibleFault(fault: unknown): string {
  return visible(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
}

/** JSON with the same characters as escapes, which mean the same there. */
export function visibleJson(value: object): string {
  return escaped(JSON.stringify(value));
}

function escaped(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
