/** Models: what can be evaluated, trained from or played with. */
import { type } from '@orpc/contract';
import type { ModelEntry } from '../../services/model-list.ts';
import { procedure } from './base.ts';

export const models = {
  /** Whole models and checkpoints; one that can't be used says why. */
  list: procedure.output(type<readonly ModelEntry[]>()),
};
