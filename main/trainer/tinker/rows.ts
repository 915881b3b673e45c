/** Prompts and completions as the single sequences that a server takes. */
import type { PromptGroup } from '../../model/pack.ts';
import { isReinforcement, type TrainConfig } from '../config/config.ts';
import type { Rows } from '../engine/engine.ts';

export interface Row {
  readonly promptIds: readonly number[];
  readonly ids: readonly number[];
}

/** The rows [first, end) of a generation. */
export function rowsOfGeneration(
  { prompts, completions }: Rows,
  groupSize: number,
  first: number,
  end: number,
): readonly Row[] {
  return completions.slice(first, end).map(({ ids }, i) => ({
    promptIds: prompts[Math.floor((first + i) / groupSize)]?.promptIds ?? [],
    ids,
  }));
}

export function rowsOfGroups(groups: readonly PromptGroup[]): readonly Row[] {
  return groups.flatMap(({ promptIds, completions }) => completions.map((ids) => ({ promptIds, ids })));
}

export function tokensIn(rows: readonly Row[]): number {
  return rows.reduce((sum, { promptIds, ids }) => sum + promptIds.length + ids.length, 0);
}

/** The sequences that one optimiser step is made of. */
export function sequencesPerStep(config: TrainConfig): number {
  const { per_device_train_batch_size: size, gradient_accumulation_steps: steps } = config;
  if (isReinforcement(config.method) || config.method === 'sft') return size * steps;
  return size * steps + Math.min(config.polychromic_prompts ?? size * steps, size * steps) * config.num_generations;
}
