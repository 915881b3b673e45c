/** A result of the study, and which kept ones can't stand on its page. */
import { type Conditions, differenceBetween } from '../kept-results.ts';
import type { Arm } from './arms.ts';

/** One arm with one seed. */
export interface StudyRun extends Conditions {
  readonly arm: string;
  readonly seed: number;
  readonly steps: number;
  /** Of its steps, evaluations left out. */
  readonly seconds: number;
  readonly stages: readonly { readonly words: readonly number[]; readonly max_completion_length: number }[];
  /** Held-out mean alignment at the length that is aimed at, with the time of the steps until then. */
  readonly heldOut: readonly { readonly step: number; readonly seconds: number; readonly mean: number }[];
}

export interface Outdated {
  /** Of its file. */
  readonly name: string;
  readonly difference: string;
}

/** Those of other weights or settings than an arm has now, or of no arm. */
export function outdated(
  results: ReadonlyMap<string, StudyRun>,
  arms: readonly Arm[],
  conditions: (arm: Arm) => Conditions,
): Outdated[] {
  return [...results].flatMap(([name, run]) => {
    const arm = arms.find((one) => one.name === run.arm);
    const difference = arm === undefined ? 'an arm that is no longer there' : differenceBetween(conditions(arm), run);
    return difference === null ? [] : [{ name, difference }];
  });
}

/** Why the page can't be written, and what to do; null: it can. */
export function refusal(found: readonly Outdated[]): string | null {
  if (found.length === 0) return null;
  const listed = found.map(({ name, difference }) => `  docs/study/${name} differs in ${difference}`);
  return [
    'docs/results.md was not written: these results are of other weights or settings than today’s. Measure them again with their arms and seeds (npm run study -- --seeds … --only …), or delete them.',
    ...listed,
  ].join('\n');
}
