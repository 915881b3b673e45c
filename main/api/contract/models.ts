/** Models: what can be evaluated, trained from or played with. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { ServedModel } from '../../services/chat/served-models.ts';
import type { StartedExport } from '../../services/merge/export-model.ts';
import type { FoundModel } from '../../services/models/found.ts';
import type { HubAccess } from '../../services/models/hub-access.ts';
import type { ImportedFolder } from '../../services/models/import.ts';
import type { ModelDetail } from '../../services/models/inspect.ts';
import type { ModelEntry } from '../../services/models/list.ts';
import type { Dependants } from '../../services/models/remove.ts';
import type { PushPreview } from '../../services/publish/plan.ts';
import type { ModelPlan } from '../../trainer/memory/model-plan.ts';
import { DTYPES, GGUF_CHOICES } from '../../trainer/protocol/export-types.ts';
import { id, line, path, procedure } from './base.ts';

/** As returned by `list`: `bundled:tiny`, `checkpoint:12`. */
const ref = z.string().min(1).max(4200);

/** A push to a repository of the Hugging Face Hub. */
const push = z.object({
  ref,
  repo: line,
  /** The run for the card; null: the one that wrote the checkpoint. */
  runId: id.nullable().default(null),
  /** Whether prompts and completions may go with it. */
  texts: z.boolean().default(true),
  license: line.nullable().default(null),
  /** The base model's name on the Hub; null: as its folder says. */
  baseModel: line.nullable().default(null),
});

export const models = {
  /** Full models and checkpoints; unusable ones say why. */
  list: procedure.output(type<readonly ModelEntry[]>()),
  /** Bytes on the disk by reference. */
  sizes: procedure.output(type<Readonly<Record<string, number>>>()),
  inspect: procedure.input(z.object({ ref })).output(type<ModelDetail>()),
  /** Memory needed for LoRA by stage within a limit in GiB; null: this machine's memory. */
  plan: procedure.input(z.object({ ref, memoryGib: z.number().min(1).max(4096).nullable() })).output(type<ModelPlan>()),
  /** Models that other programs have on this machine. */
  found: procedure.output(type<readonly FoundModel[]>()),
  /** Adds one of those: a GGUF file is converted by a job, a folder used in place. */
  addFound: procedure.input(z.object({ path })).output(type<ImportedFolder>()),
  /** Imports a folder, in place or copied into the workspace by a job, or converts a GGUF file. */
  import: procedure.input(z.object({ path, copy: z.boolean() })).output(type<ImportedFolder>()),
  /** Starts a download from the Hugging Face Hub. */
  download: procedure
    .input(z.object({ repo: line, revision: line.default('main') }))
    .output(z.object({ jobId: z.int() })),
  /** Where a token for gated models would come from. */
  hubAccess: procedure.output(type<HubAccess>()),
  /** Keeps a token, or forgets it. */
  setHubToken: procedure
    .input(z.object({ token: z.string().trim().min(1).max(500).nullable() }))
    .output(type<HubAccess>()),
  /** Why it can't be exported as GGUF; null: it can. */
  ggufProblem: procedure.input(z.object({ ref })).output(z.string().nullable()),
  /** Starts the export of a model or checkpoint as a model of the workspace or in a folder elsewhere, with a GGUF file if wanted. */
  export: procedure
    .input(
      z.object({
        ref,
        name: line,
        /** A folder on the host to write it to; null: the workspace's models. */
        into: path.nullable().default(null),
        dtype: z.enum(DTYPES).nullable(),
        gguf: z.enum(GGUF_CHOICES).nullable(),
      }),
    )
    .output(type<StartedExport>()),
  /** Every file that a push would send, and the card. */
  previewPush: procedure.input(push).output(type<PushPreview>()),
  /** Starts it; a new repository is private, one that is public is refused unless that is meant. */
  push: procedure.input(push.extend({ isPublic: z.boolean().default(false) })).output(z.object({ jobId: z.int() })),
  /** The models that answer at an OpenAI-compatible address, with address and key. */
  served: procedure.output(type<readonly ServedModel[]>()),
  /** Begins to serve a model at an address of its own; the list says how far it is. */
  serve: procedure.input(z.object({ ref })),
  stopServing: procedure.input(z.object({ ref })),
  /** What depends on a model, before it is deleted. */
  dependants: procedure.input(z.object({ ref })).output(type<Dependants>()),
  /** Deletes a model or a checkpoint; an imported folder is only removed from the list. */
  remove: procedure.input(z.object({ ref })),
};
