/** Text that a terminal shows as it is. */

/** Escapes control characters, except line breaks and tabs: a model's output must not control a terminal. */
export function visible(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
