/** What a word is, everywhere in Braid. */

// Not `\s`: that counts U+FEFF (a byte-order mark) as space and misses U+0085 (next line).
const WHITE_SPACE = /\p{White_Space}+/u;
/** Anything but soft hyphens, joiners, marks of direction and other characters that nobody sees. */
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{Cc}\u2800\ufff9-\ufffb]/u;

/**
 * The words of a text: the parts between Unicode white space in which something is visible. They are composed (NFC), so
 * that words are the same however their accents were typed: tokenizers compose them too, or take them apart.
 */
export function splitWords(text: string): string[] {
  return text
    .normalize('NFC')
    .split(WHITE_SPACE)
    .filter((word) => VISIBLE.test(word));
}

/** How many words a text has. */
export function countWords(text: string): number {
  return splitWords(text).length;
}

/** The normalised form in which two texts or words count as the same: composed Unicode, lower case, single spaces. */
export function normalizeText(text: string): string {
  return splitWords(text.toLowerCase()).join(' ');
}
