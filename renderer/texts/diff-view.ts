/** Two texts side by side: what each column shows. Pure. */
import type { DiffRun } from '../../main/api/contract/index.ts';
import { counted } from '../components/format.ts';

export interface DiffPart {
  /** `skipped`: a long stretch that both have; `words` is empty, `count` says how long it is. */
  readonly kind: 'same' | 'own' | 'skipped';
  readonly text: string;
  readonly count: number;
}

/** Words of a long common stretch that stay, at each end. */
const KEPT = 20;

/** The parts of one column. */
export function columnOf(runs: readonly DiffRun[], which: 'first' | 'second'): DiffPart[] {
  return runs.flatMap(({ kind, words }, i): DiffPart[] => {
    if (kind === which) return [part('own', words)];
    if (kind !== 'same') return [];
    if (words.length <= 3 * KEPT) return [part('same', words)];
    const start = i === 0 ? 0 : KEPT;
    const end = i === runs.length - 1 && runs.length > 1 ? 0 : KEPT;
    return [
      ...(start > 0 ? [part('same', words.slice(0, start))] : []),
      { kind: 'skipped', text: '', count: words.length - start - end },
      ...(end > 0 ? [part('same', words.slice(words.length - end))] : []),
    ];
  });
}

function part(kind: 'same' | 'own', words: readonly string[]): DiffPart {
  return { kind, text: words.join(' '), count: words.length };
}

/** "59 words in common, 1 only in the first, 1 only in the second" */
export function diffSummary(runs: readonly DiffRun[]): string {
  const count = (wanted: DiffRun['kind']): number =>
    runs.reduce((sum, { kind, words }) => sum + (kind === wanted ? words.length : 0), 0);
  return `${counted(count('same'), 'word')} in common, ${count('first')} only in the first, ${count('second')} only in the second`;
}
