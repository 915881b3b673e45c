/** Words as the host counts them (main/text/words.ts and source-words.ts); a test compares the two. */

const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{Cc}\u2800\ufff9-\ufffb]/u;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

export function splitWords(text: string): string[] {
  return text.split(/\p{White_Space}+/u).filter((word) => VISIBLE.test(word));
}

/** How many words a fragment of this text would have. */
export function countSourceWords(text: string): number {
  return splitWords(text).reduce((sum, part) => sum + (UNSPACED.test(part) ? countSegments(part) : 1), 0);
}

function countSegments(part: string): number {
  let count = 0;
  let isSpaced = false;
  for (const { segment, isWordLike } of segmenter.segment(part)) {
    if (isWordLike !== true) continue;
    const wasSpaced = isSpaced;
    isSpaced = !UNSPACED.test(segment);
    if (!(isSpaced && wasSpaced)) count++;
  }
  return Math.max(1, count);
}
