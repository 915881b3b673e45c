/** What a dataset's held-out records share with its training records, in words. Pure. */
import type { DatasetSummary } from '../../main/api/contract/index.ts';
import { counted, number } from './format.ts';

/** What is shared: pairs are made from texts; imported records have prompts only. */
export function leakageNouns(task: string): readonly [text: string, items: string] {
  return task === 'interleave' ? ['text', 'pairs'] : ['prompt', 'records'];
}

/** `35 of 64 test pairs repeat training pairs`; null if they are held out, or nobody has looked. */
export function leakageInWords(
  leakage: DatasetSummary['leakage'],
  heldOut: number,
  task = 'interleave',
): string | null {
  if (leakage === null) return null;
  const { titles, pairs } = leakage;
  const [text, items] = leakageNouns(task);
  const shared = titles === 0 ? [] : [`${counted(titles, `${text} is`, `${text}s are`)} in training and test`];
  const repeated =
    pairs === 0 ? [] : [`${number(pairs)} of ${number(heldOut)} test ${items} repeat words of training ${items}`];
  const parts = [...shared, ...repeated];
  return parts.length === 0 ? null : parts.join('; ');
}

/** The same in the few words of a table's cell. */
export function heldOutInWords({ leakage, testN, task }: Pick<DatasetSummary, 'leakage' | 'testN' | 'task'>): string {
  if (testN === 0) return '–';
  if (leakage === null) return 'not checked';
  const { titles, pairs } = leakage;
  if (titles + pairs === 0) return 'yes';
  const [text] = leakageNouns(task);
  return pairs === 0 ? counted(titles, `shared ${text}`) : `${number(pairs)} of ${number(testN)} repeat`;
}
