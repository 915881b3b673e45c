/** The score in a judge's answer. Pure. */
import type { Outcome } from '../tasks/external/messages.ts';

/** `7.5` or `7,5`, and the highest score that is written after it; of a range, `7-8`, neither end. */
const DIGITS = String.raw`\d+(?:[.,]\d+)?`;
const NUMBER = String.raw`(-?${DIGITS})(?!\d|[.,]\d|[-–]\d|\s+to\s+\d)(?:[*_\s]*(?:\/|out of)\s*(${DIGITS}))?`;
/** `"score": 7`, `Score: 7`, `**Rating:** 7/10`, or `Score 3: 7` of the third; the last one counts, as reasons come first. */
const named = (which: string): RegExp =>
  new RegExp(String.raw`\b(?:score|rating|grade)\b${which}["'*_\s]*(?:[:=]|\bis\b)["'*_\s]*${NUMBER}`, 'gi');
const NAMED = named('');
const ALONE = new RegExp(String.raw`^[*_\s]*${NUMBER}[*_.\s]*$`);
/** What reasoning models write before they answer; cut off, it has no end. */
const THOUGHTS = /<think>[\s\S]*?(?:<\/think>|$)/g;

/**
 * The share of the scale that a judge gives, 0 to 1; or why its answer has no score. `which`: of several completions, from
 * 1; null: it was given one.
 */
export function judgeScore(
  answer: string,
  [low, high]: readonly [number, number],
  which: number | null = null,
): Outcome {
  const said = answer.replace(THOUGHTS, '').trim();
  const [, found, highest] =
    which === null
      ? (ALONE.exec(said) ?? [...said.matchAll(NAMED)].at(-1) ?? [])
      : ([...said.matchAll(named(String.raw`[*_#\s]*${which}\b`))].at(-1) ?? []);
  if (found === undefined)
    return `the judge gave no score: expected "Score${which === null ? '' : ` ${which}`}: N" with N from ${low} to ${high}, got ${JSON.stringify(said.slice(-160))}`;
  const [score, most] = [numberOf(found), numberOf(highest ?? String(high))];
  if (score < low || score > high || most !== high)
    return `the judge gave ${found}${highest === undefined ? '' : ` of ${highest}`}: expected a score from ${low} to ${high}`;
  return (score - low) / (high - low);
}

function numberOf(digits: string): number {
  return Number(digits.replace(',', '.'));
}
