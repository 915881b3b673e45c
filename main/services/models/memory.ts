/** The memory of a model that is used, not trained, before a trainer process decides it. */
import { freemem } from 'node:os';
import { deviceBudget, precisionFor, usedBytes } from '../../trainer/memory/budget.ts';
import { readModelConfig } from '../../trainer/memory/model-folder.ts';
import type { ModelParts } from '../../trainer/open-policy.ts';
import { machineDevice } from '../doctor/model.ts';

/** Caches of a prompt and its completion, as a rule. */
const CACHES = 128 * 2 ** 20;

/** What a process with this model takes. */
export function bytesInUse({ base }: ModelParts): number {
  const model = readModelConfig(base);
  const budget = deviceBudget(machineDevice(), freemem());
  const precision = precisionFor(model, 'none', budget);
  return usedBytes(model, { precision, trained: 'none' }, budget.program, CACHES);
}
