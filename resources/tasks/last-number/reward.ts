import { type Answer, lastNumber } from 'braid';

/** 1 if the last number in the completion is the answer, as word problems are graded; otherwise 0. */
export function reward({ record, completion }: Answer<{ answer: number }>): number {
  const found = lastNumber(completion);
  return found !== null && Math.abs(found - record.answer) < 1e-6 ? 1 : 0;
}
