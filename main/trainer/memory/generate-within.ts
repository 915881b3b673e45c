/** Generation within memory, for every job that samples or answers: one place decides how many rows at a time. */
import { type GenerateOptions, generate } from '../../model/generate.ts';
import type { Completion } from '../../samples/completion.ts';
import type { Policy } from '../policy/policy.ts';
import { cacheBytes, rowsAtOnce } from './plan.ts';
import { withinMemory } from './within-memory.ts';

/** Completions of every prompt, as many rows at a time as `activationMb` holds, in fewer after memory ran out. */
export function generateWithin(
  { model, adapter }: Policy,
  prompts: readonly (readonly number[])[],
  activationMb: number,
  options: Omit<GenerateOptions, 'inBatches'>,
): Completion[] {
  const group = options.numGenerations;
  const promptTokens = prompts.reduce((most, { length }) => Math.max(most, length), 0);
  // After their first turn, completions no longer share their prompt's keys and values. The cache has a copy of its own,
  // as the next turn needs what was read so far too.
  const inTurns = options.turns !== undefined;
  const shape = {
    promptTokens,
    completionTokens: options.maxNewTokens,
    ...(inTurns ? { group: 1, prefixes: 2 } : { group }),
  };
  const rows = prompts.length * group;
  return generate(model, adapter, prompts, {
    ...options,
    inBatches: (work) =>
      withinMemory(
        model,
        activationMb,
        (megabytes) => work(rowsAtOnce(model.config, shape, rows, megabytes * 2 ** 20)),
        () => cacheBytes(model.config, shape, rows) / 2 ** 20,
      ),
  });
}
