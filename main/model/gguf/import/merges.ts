/** SentencePiece's vocabulary as the merges of a BPE model: what has the highest score is joined first. */
import { TOKEN } from '../metadata.ts';

interface Scored {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
}

interface Merge {
  readonly halves: readonly [string, string];
  readonly score: number;
}

/** As transformers derives them: each way to make a token of two, those of better tokens first. */
export function mergesOf({ tokens, types }: Scored, scores: readonly number[]): readonly (readonly [string, string])[] {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const merges: Merge[] = [];
  for (const [id, token] of tokens.entries()) {
    if (types[id] !== TOKEN.normal && types[id] !== TOKEN.userDefined) continue;
    merges.push(...waysTo(token, ids).map((halves) => ({ halves, score: scores[id] ?? 0 })));
  }
  const rank = ({ halves: [first, second], score }: Merge) => [score, lengthOf(first), lengthOf(second)] as const;
  const ranked = merges.map((merge) => ({ ...merge, rank: rank(merge) }));
  ranked.sort((a, b) => b.rank[0] - a.rank[0] || b.rank[1] - a.rank[1] || b.rank[2] - a.rank[2]);
  return ranked.map(({ halves }) => halves);
}

/** The pairs of tokens that a token is made of, in the order of their ids. */
function waysTo(token: string, ids: ReadonlyMap<string, number>): (readonly [string, string])[] {
  const ways: { readonly halves: readonly [string, string]; readonly at: readonly [number, number] }[] = [];
  for (let cut = 1; cut < token.length; cut++) {
    // Not within a character of two units.
    if ((token.charCodeAt(cut) & 0xfc00) === 0xdc00) continue;
    const [first, second] = [token.slice(0, cut), token.slice(cut)];
    const at = [ids.get(first), ids.get(second)] as const;
    if (at[0] !== undefined && at[1] !== undefined) ways.push({ halves: [first, second], at: [at[0], at[1]] });
  }
  return ways.sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1]).map(({ halves }) => halves);
}

function lengthOf(text: string): number {
  return [...text].length;
}
