/** Generation within memory, for every job that samples or answers: one place decides how many rows at a time. */
import { readsAnyRow } from '../../model/decoding.ts';
import { type GenerateOptions, generate } from '../../model/generate.ts';
import { generateTurns, type TurnsOptions } from '../../model/generate-turns.ts';
import type { TurnTaking } from '../../model/turns.ts';
import type { Completion } from '../../samples/completion.ts';
import type { Policy } from '../policy/policy.ts';
import { cacheBytes, rowsAtOnce } from './plan.ts';
import { openBudget, withinMemory } from './within-memory.ts';

/** Completions of every prompt, as many rows at a time as `activationMb` holds, in fewer after memory ran out. */
export function generateWithin(
  { model, adapter }: Policy,
  prompts: readonly (readonly number[])[],
  activationMb: number,
  options: Omit<GenerateOptions, 'inBatches'>,
): Completion[] {
  const { numGenerations: group } = options;
  const shape = { promptTokens: longestOf(prompts), completionTokens: options.maxNewTokens, group };
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

/** In one turn, or in several where `turns` says so. */
export async function sampleWithin(
  policy: Policy,
  prompts: readonly (readonly number[])[],
  activationMb: number,
  { turns, ...options }: Omit<GenerateOptions, 'inBatches'> & { readonly turns?: TurnTaking },
): Promise<Completion[]> {
  if (turns === undefined) return generateWithin(policy, prompts, activationMb, options);
  return generateTurnsWithin(policy, prompts, activationMb, { ...options, turns });
}

function generateTurnsWithin(
  { model, adapter }: Policy,
  prompts: readonly (readonly number[])[],
  activationMb: number,
  options: Omit<TurnsOptions, 'memory'>,
): Promise<Completion[]> {
  const tokens = { promptTokens: longestOf(prompts), completionTokens: options.maxNewTokens };
  // Where rows leave and come back, they no longer share their prompt's keys and values, and those that decoding opens on
  // are there twice.
  const stay = readsAnyRow(model.config, tokens.promptTokens + tokens.completionTokens);
  const shape = { ...tokens, ...(stay ? { group: options.numGenerations } : { group: 1, prefixes: 2 }) };
  const rows = prompts.length * options.numGenerations;
  const undivided = (): number => cacheBytes(model.config, shape, rows) / 2 ** 20;
  const budget = openBudget(model, activationMb, undivided);
  const memory = {
    most: () => rowsAtOnce(model.config, shape, rows, budget.megabytes * 2 ** 20),
    failed: budget.shrink,
  };
  return generateTurns(model, adapter, prompts, { ...options, memory });
}

function longestOf(prompts: readonly (readonly number[])[]): number {
  return prompts.reduce((most, { length }) => Math.max(most, length), 0);
}
