/** The one reward of the interleave task. */
import { alignmentScore } from '../../text/alignment.ts';
import { splitWords } from '../../text/words.ts';

/** How well a completion aligns with the exact target, 0 to 1. */
export function alignmentReward(target: string, completion: string): number {
  return alignmentScore(splitWords(target), splitWords(completion));
}
