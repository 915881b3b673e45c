/** Interleaves two fragments, and locates fragments in a prompt. Pure. */
import { splitWords } from '../components/words.ts';

export type Strand = 'a' | 'b';

export interface StrandWord {
  readonly strand: Strand;
  readonly text: string;
}

/** The words of both fragments alternating, then the rest of the longer one: the target, with its strands. */
export function braided(fragmentA: string, fragmentB: string): StrandWord[] {
  const [a, b] = [splitWords(fragmentA), splitWords(fragmentB)];
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i): StrandWord[] => [
    ...(i < a.length ? [{ strand: 'a', text: a[i] ?? '' } as const] : []),
    ...(i < b.length ? [{ strand: 'b', text: b[i] ?? '' } as const] : []),
  ]).flat();
}

export interface PromptPart {
  readonly strand: Strand | null;
  readonly text: string;
}

/** A prompt split into the text of its template and the fragments. */
export function promptParts(prompt: string, fragmentA: string, fragmentB: string): PromptPart[] {
  const found = (
    [
      ['a', fragmentA, prompt.indexOf(fragmentA)],
      ['b', fragmentB, prompt.lastIndexOf(fragmentB)],
    ] as const
  )
    .filter(([, , at]) => at >= 0)
    .toSorted(([, , x], [, , y]) => x - y);
  const parts: PromptPart[] = [];
  let done = 0;
  for (const [strand, fragment, at] of found) {
    if (at < done) continue;
    parts.push({ strand: null, text: prompt.slice(done, at) }, { strand, text: fragment });
    done = at + fragment.length;
  }
  return [...parts, { strand: null, text: prompt.slice(done) }].filter(({ text }) => text !== '');
}
