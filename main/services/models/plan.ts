/** What training a model takes in memory by stage, before anything of it is loaded. */
import { type ModelPlan, planModel } from '../../trainer/model-plan.ts';
import { machineBudget } from '../doctor/model.ts';
import type { ModelPlaces } from '../model-list.ts';
import { resolveModelParts } from '../models.ts';
import { knownModel } from './inspect.ts';

/** The plan within `budget` bytes, or with what this machine has; of a checkpoint, its base's. */
export async function planOfModel(places: ModelPlaces, ref: string, budget: number | null): Promise<ModelPlan> {
  const { base } = resolveModelParts(knownModel(places, ref).model, places.paths);
  return planModel(base, budget ?? (await machineBudget()));
}
