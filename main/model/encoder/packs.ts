/** Texts laid one behind the other, for an encoder to take many at a time. */

/** A text's tokens within a pack. */
export interface Span {
  /** Which text. */
  readonly text: number;
  readonly start: number;
  readonly length: number;
}

export interface Pack {
  /** [N] */
  readonly ids: Int32Array;
  /** [N] each token's place in its text. */
  readonly positions: Int32Array;
  readonly spans: readonly Span[];
  /** [S * 4] as `packedAttention` takes them: each text sees all of itself. */
  readonly segments: Int32Array;
}

/** Tokens of a pack, unless one text has more: enough for all threads, and little memory. */
const MOST_TOKENS = 2048;
/** Matrix products of fewer rows are computed in another order: a text's numbers would depend on the others. */
const FEWEST_TOKENS = 64;

/** Packs the texts' tokens, those of like length together. */
export function packTexts(texts: readonly (readonly number[])[]): Pack[] {
  const byLength = texts.map((ids, text) => ({ ids, text })).sort((a, b) => a.ids.length - b.ids.length);
  const groups: (typeof byLength)[] = [];
  let room = 0;
  for (const one of byLength) {
    if (one.ids.length > room) {
      groups.push([]);
      room = MOST_TOKENS;
    }
    groups.at(-1)?.push(one);
    room -= one.ids.length;
  }
  return groups.map(packOf);
}

function packOf(texts: readonly { readonly ids: readonly number[]; readonly text: number }[]): Pack {
  const used = texts.reduce((sum, { ids }) => sum + ids.length, 0);
  const tokens = Math.max(FEWEST_TOKENS, used);
  const [all, positions] = [new Int32Array(tokens), new Int32Array(tokens)];
  const spans: Span[] = [];
  let at = 0;
  for (const { ids, text } of texts) {
    all.set(ids, at);
    for (let t = 0; t < ids.length; t++) positions[at + t] = t;
    spans.push({ text, start: at, length: ids.length });
    at += ids.length;
  }
  const filled = used < tokens ? [...spans, { start: used, length: tokens - used }] : spans;
  const segments = Int32Array.from(filled.flatMap(({ start, length }) => [start, length, start, length]));
  return { ids: all, positions, spans, segments };
}
