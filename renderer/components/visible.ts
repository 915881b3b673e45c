/** As in main/text/visible.ts: control characters but white space, and those that show what follows in another order. */
const HIDDEN = /[^\P{Cc}\n\r\t]|[\u202a-\u202e\u2066-\u2069]/gu;

/** A text of a model or a file with what would make it read as another one as escapes. Pure. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
