/** A model of the playground beside the others that are asked the same at the same time. */
import { availableParallelism } from 'node:os';
import { BraidError } from '../../errors.ts';
import { askedAlike, endedBy } from '../../trainer/policy/asked-alike.ts';
import type { ModelParts } from '../../trainer/policy/model-parts.ts';
import { type ModelPlaces, requireModel } from '../models/list.ts';
import { resolveModelParts } from '../models/resolve.ts';

export interface LaneRequest {
  /** As in the list of models. */
  readonly model: string;
  /** The others that share the machine, in their order. */
  readonly beside: readonly string[];
  /** Texts that end a completion; undefined: those that a model was trained with. */
  readonly stop?: readonly string[] | undefined;
}

export interface Lane {
  readonly name: string;
  readonly model: ModelParts;
  /** A base model takes the precision of adapters over it, or the two would differ by that. */
  readonly beside: readonly ModelParts[];
  /** The model whose system prompt and switches it was given, as it has none of its own; null: none has any. */
  readonly askedAs: string | null;
  /** Its share of the processor. */
  readonly threads: number;
}

/** Resolves the lane's model; of the others only those that can be: they report their own failures. */
export function openLane(places: ModelPlaces, { model, beside, stop }: LaneRequest): Lane {
  const resolve = (ref: string) => {
    const { name, folder } = requireModel(places, ref);
    return { name, ...resolveModelParts(folder, places.paths) };
  };
  const own = resolve(model);
  const others = beside.flatMap((ref) => {
    try {
      return [resolve(ref)];
    } catch (error) {
      if (error instanceof BraidError) return [];
      throw error;
    }
  });
  const [asked = { ...own, askedAs: null }] = askedAlike([own, ...others]);
  const { name, askedAs, ...parts } = asked;
  const threads = Math.ceil(availableParallelism() / (1 + others.length));
  return { name, model: endedBy(parts, stop ?? null), beside: others, askedAs, threads };
}
