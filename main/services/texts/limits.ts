/** Sizes of texts. */

/** In characters. A long novel has two million; looking for near duplicates takes twenty times a text's size. */
export const LONGEST_TEXT = 16_000_000;
