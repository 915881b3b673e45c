/** The longest completions that models were trained with. */
import { largest } from '../../lists.ts';
import { recordedLimit } from '../../trainer/memory/recorded-limit.ts';
import type { ModelParts } from '../../trainer/policy/model-parts.ts';

/** In tokens; null: none of them says. What is compared is asked alike, so this is one number for all. */
export function trainedLimit(models: readonly Pick<ModelParts, 'base' | 'adapter'>[]): number | null {
  const limits = models.flatMap(({ base, adapter }) => recordedLimit(adapter ?? base) ?? []);
  return limits.length === 0 ? null : largest(limits);
}
