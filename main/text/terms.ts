/** Texts as weighted terms, for lexical similarity: words without punctuation, lower case, stemmed (Porter 1980). */
import { stemmer } from 'stemmer';
import { isUnspaced, sourceWords } from './source-words.ts';

/** Words that say nothing about a text's subject. */
const STOP_WORDS = new Set(
  "a about after again all also am an and any are as at be because been before being both but by can could did do does doing down each few for from had has have having he her here hers him his how i if in into is it its just me more most my no nor not now of off on once only or other our out over own same she should so some such than that the their them then there these they this those through to too under until up very was we were what when where which while who whom why will with would you your yours i'm it's don't can't won't that's you're i've".split(
    ' ',
  ),
);

/** Vowels of Hindi, Thai or Arabic are marks of their letters. */
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu;

/** The words of a text, lower case, without punctuation; those of scripts without spaces by Unicode's segmentation. */
export function plainWords(text: string): string[] {
  const words = Array.from(text.normalize('NFC').toLowerCase().matchAll(WORD), ([word]) => word.replaceAll('’', "'"));
  return isUnspaced(text) ? words.flatMap((word) => (isUnspaced(word) ? sourceWords(word) : [word])) : words;
}

/** The stems of the words that carry a subject. */
export function stems(text: string): string[] {
  return plainWords(text)
    .filter((word) => !STOP_WORDS.has(word))
    .map((word) => stemmer(word));
}

/** How rare each term is in some documents: ln((1 + N) / (1 + n)) + 1, smoothed so that unknown terms have a weight. */
export interface InverseDocumentFrequency {
  weight(term: string): number;
}

/** Counts terms over documents. Without any, all terms have the same weight. */
export function inverseDocumentFrequency(documents: readonly (readonly string[])[]): InverseDocumentFrequency {
  const counts = new Map<string, number>();
  for (const document of documents) for (const term of new Set(document)) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { weight: (term) => Math.log((1 + documents.length) / (1 + (counts.get(term) ?? 0))) + 1 };
}

/** Cosine of two texts' TF-IDF vectors, 0 to 1 (as scikit-learn's defaults: raw counts × smoothed IDF); 0 when empty. */
export function tfidfCosine(a: readonly string[], b: readonly string[], idf: InverseDocumentFrequency): number {
  const [left, right] = [vectorOf(a, idf), vectorOf(b, idf)];
  let dot = 0;
  for (const [term, weight] of left) dot += weight * (right.get(term) ?? 0);
  const norms = normOf(left) * normOf(right);
  return norms === 0 ? 0 : Math.min(1, dot / norms);
}

function vectorOf(terms: readonly string[], idf: InverseDocumentFrequency): ReadonlyMap<string, number> {
  const vector = new Map<string, number>();
  for (const term of terms) vector.set(term, (vector.get(term) ?? 0) + idf.weight(term));
  return vector;
}

function normOf(vector: ReadonlyMap<string, number>): number {
  let squares = 0;
  for (const weight of vector.values()) squares += weight * weight;
  return Math.sqrt(squares);
}
