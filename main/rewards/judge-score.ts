/** The score in a judge's answer. Pure. */
import type { Outcome } from '../tasks/external/messages.ts';

const DIGITS = String.raw`\d+(?:[.,]\d+)?`;
/** `7.5` or `7,5`, and the highest score that is written after it. */
const NUMBER = String.raw`(-?${DIGITS})(?:[*_\s(]*(?:\/|(?:out )?of)\s*(${DIGITS})\)?)?`;
/** What follows where it is another number or one of several, and none counts: `7-8`, `7 or 8`, `7½`, `1,000,000`. */
const MORE = /^(?:\d|[.,]\d|[-–]\d|\s+(?:to|or)\s+\d|\p{No})/u;
/** `"score": 7`, `Score: 7`, `**Rating:** 7/10`, or `Score 3: 7` of the third; the last one counts, as reasons come first. */
const named = (which: string): RegExp =>
  new RegExp(String.raw`\b(?:score|rating|grade)\b${which}["'*_\s]*(?:[:=：]|\bis\b)["'*_\s]*${NUMBER}`, 'gi');
const NAMED = named('');
const ANY = named(String.raw`(?:[*_#\s]*\d+\b)?`);
const ALONE = new RegExp(String.raw`^[*_\s]*${NUMBER}[*_.\s]*$`);
/** Quotations: what a judge repeats of a completion, as in the reasons of its JSON, it doesn't say itself. */
const QUOTED = /"(?:[^"\\\n]|\\.?)*(?:"|$)|“[^”\n]*(?:”|$)|`<\/?think>`/gm;
const THINK = /<\/?think>/;

/**
 * The share of the scale that a judge gives, 0 to 1; or why its answer has no score. `isCut`: its end is missing. `which`:
 * of several completions, from 1; null: it was given one.
 */
export function judgeScore(
  answer: string,
  [low, high]: readonly [number, number],
  { isCut = false, which = null }: { readonly isCut?: boolean | undefined; readonly which?: number | null } = {},
): Outcome {
  const said = ownWords(answer, isCut);
  const pattern = which === null ? NAMED : named(String.raw`[*_#\s]*${which}\b`);
  const match = (which === null ? ALONE.exec(said) : null) ?? [...said.matchAll(pattern)].at(-1);
  const [, found, highest] = match ?? [];
  const after = match === undefined ? '' : said.slice(match.index + match[0].length);
  const [score, most] = [numberOf(found ?? ''), numberOf(highest ?? String(high))];
  // "Score: 1" may have been going to be 10.
  const isOpen = /^[.,]?$/.test(after) && /\d[.,]?$/.test(said) && Math.abs(score * 10) <= Math.max(-low, high);
  const wanted = `expected "Score${which === null ? '' : ` ${which}`}: N" with N from ${low} to ${high}`;
  if (isCut && (found === undefined || isOpen))
    return `the judge's answer was cut off before its score: ${wanted}. Raise the judge's max_tokens`;
  if (found === undefined || MORE.test(after))
    return `the judge gave no score: ${wanted}, got ${JSON.stringify(answer.trim().slice(-160))}`;
  if (score < low || score > high || most !== high)
    return `the judge gave ${found.slice(0, 40)}${highest === undefined ? '' : ` of ${highest}`}: expected a score from ${low} to ${high}`;
  return (score - low) / (high - low);
}

/** An answer without thoughts, whose start may be part of the prompt, and without quotations of scores. */
function ownWords(answer: string, isCut: boolean): string {
  return answer
    .trim()
    .replace(/^"([^"]*)"$/, '$1')
    .replace(QUOTED, (text, at: number, all: string) => {
      // Without an end it may be a unit of length, unless the answer has none either.
      const isQuotation = (text.length > 1 && /["”`]$/.test(text)) || (isCut && at + text.length === all.length);
      return isQuotation && (THINK.test(text) || text.slice(1).search(ANY) >= 0) ? '""' : text;
    })
    .replace(/^[\s\S]*<\/think>/, '')
    .replace(/^\s*<think>[\s\S]*/, '')
    .trim();
}

function numberOf(digits: string): number {
  return Number(digits.replace(',', '.'));
}
