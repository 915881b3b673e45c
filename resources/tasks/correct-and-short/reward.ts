import { type Answer, type Completion, lastNumber } from 'braid';

/**
 * Whether the last number is the answer; and, from 0.5 for the shortest completion of the prompt to -0.5 for the longest,
 * the length reward of Kimi k1.5 (arXiv 2501.12599, section 2.3.3). A wrong completion gains nothing by being short.
 */
export function reward({ record, completion, tokens }: Answer<{ answer: number }>, group: readonly Completion[]) {
  const found = lastNumber(completion);
  const correct = found !== null && Math.abs(found - record.answer) < 1e-6 ? 1 : 0;
  const lengths = group.map((one) => one.tokens);
  const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)];
  const short = shortest === longest ? 0 : 0.5 - (tokens - shortest) / (longest - shortest);
  return { correct, short: correct === 1 ? short : Math.min(0, short) };
}
