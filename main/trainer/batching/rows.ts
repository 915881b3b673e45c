/** Rows of a generation. P prompts, G completions per prompt; row i belongs to group floor(i / G). */

import type { PromptGroup } from '../../model/pack.ts';
import type { Completion } from '../../samples/completion.ts';
import type { Generation } from './generation.ts';
import type { TokenRecord } from './prompts.ts';

export function promptOfRow(prompts: readonly TokenRecord[], row: number, groupSize: number): TokenRecord {
  const prompt = prompts[Math.floor(row / groupSize)];
  if (prompt === undefined) throw new Error(`Expected row ${row} to belong to one of ${prompts.length} prompts`);
  return prompt;
}

/** A completion of a generation in messages. */
export function nameOfRow({ prompts, completions }: Pick<Generation, 'prompts' | 'completions'>, row: number): string {
  const size = completions.length / Math.max(prompts.length, 1);
  const record = prompts[Math.floor(row / size)]?.record.id;
  return `completion ${(row % size) + 1} of record ${record}`;
}

export function allRows({ completions }: Pick<Generation, 'completions'>): number[] {
  return completions.map((_, row) => row);
}

/** Rows of a generation, in its order, as groups that share their prompt. */
export function groupsOfRows(
  generation: Pick<Generation, 'prompts' | 'completions'>,
  rows: readonly number[],
  groupSize: number,
): PromptGroup[] {
  const groups = new Map<number, { promptIds: readonly number[]; completions: (readonly number[])[] }>();
  for (const row of rows) {
    const g = Math.floor(row / groupSize);
    const group = groups.get(g) ?? { promptIds: generation.prompts[g]?.promptIds ?? [], completions: [] };
    group.completions.push(generation.completions[row]?.ids ?? []);
    groups.set(g, group);
  }
  return [...groups.values()];
}

/** The tokens of a completion that the model wrote. */
export function ownTokens({ ids, toolMask }: Completion): readonly number[] {
  return toolMask === undefined ? ids : ids.filter((_, i) => toolMask[i] === 1);
}
