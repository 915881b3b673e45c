/** As the host cuts texts (main/text/beginning.ts); a test compares the two. Pure. */

/** Made once: it takes longer than cutting a text. */
const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** How long one is taken to be at most: accents on one letter, or people in one emoji, may be many. */
const LONGEST_CHARACTER = 64;

/** A text's beginning of at most so many code units, and of whole characters: half an emoji isn't text. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  const from = characters.segment(text.slice(0, most + LONGEST_CHARACTER)).containing(most)?.index ?? most;
  if (from > 0) return text.slice(0, from);
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
