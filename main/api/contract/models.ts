/** Models: what can be evaluated, trained from or played with. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { ModelEntry } from '../../services/model-list.ts';
import type { ImportedFolder } from '../../services/models/import.ts';
import type { ModelDetail } from '../../services/models/inspect.ts';
import type { Dependants } from '../../services/models/remove.ts';
import type { ModelPlan } from '../../trainer/model-plan.ts';
import { line, path, procedure } from './base.ts';

/** As `list` gives it: `bundled:tiny`, `checkpoint:12`. */
const ref = z.string().min(1).max(4200);

export const models = {
  /** Whole models and checkpoints; one that can't be used says why. */
  list: procedure.output(type<readonly ModelEntry[]>()),
  /** Bytes on the disk by reference. */
  sizes: procedure.output(type<Readonly<Record<string, number>>>()),
  inspect: procedure.input(z.object({ ref })).output(type<ModelDetail>()),
  /** What LoRA takes by stage, within so many GiB; null: with what this machine has. */
  plan: procedure.input(z.object({ ref, memoryGib: z.number().min(1).max(4096).nullable() })).output(type<ModelPlan>()),
  /** Takes in a folder: where it lies, or copied into the workspace by a job. */
  import: procedure.input(z.object({ path, copy: z.boolean() })).output(type<ImportedFolder>()),
  /** Begins a download from the Hugging Face hub. */
  download: procedure
    .input(z.object({ repo: line, revision: line.default('main') }))
    .output(z.object({ jobId: z.int() })),
  /** What hangs on a model, before it is deleted. */
  dependants: procedure.input(z.object({ ref })).output(type<Dependants>()),
  /** Deletes a model or a checkpoint; forgets an imported folder. */
  remove: procedure.input(z.object({ ref })),
};
