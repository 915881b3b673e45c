/** What a dataset's held-out records share with its training records, in words. Pure. */
import type { DatasetSummary } from '../../main/api/contract/index.ts';
import { number } from './format.ts';

/** `35 of 64 test pairs repeat training pairs`; null if they are held out, or nobody has looked. */
export function leakageInWords(leakage: DatasetSummary['leakage'], heldOut: number): string | null {
  if (leakage === null) return null;
  const { titles, pairs } = leakage;
  const shared =
    titles === 0 ? [] : [`${number(titles)} ${titles === 1 ? 'text is' : 'texts are'} in training and test`];
  const repeated =
    pairs === 0 ? [] : [`${number(pairs)} of ${number(heldOut)} test pairs repeat words of training pairs`];
  const parts = [...shared, ...repeated];
  return parts.length === 0 ? null : parts.join('; ');
}
