/** Importing records for a task: a file or a dataset of the Hub, its columns mapped to fields, then written. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { HubPreview, OtherSplits } from '../../services/data-import/hub-preview.ts';
import type { ImportPlan } from '../../services/datasets/import/plan.ts';
import { id, line, list, path, procedure } from './base.ts';

const column = z.string().min(1).max(300);
const how = z.object({
  uploadId: id,
  testUploadId: id.nullable().default(null),
  task: z
    .string()
    .max(64)
    .regex(/^[\w-]{1,64}$/),
  /** Columns by field, over the guessed ones; an empty one leaves the field out. */
  map: z.record(z.string().max(100), z.string().max(300)).default({}),
  filters: list(z.object({ column, value: z.string().max(1000) }), { max: 10 }).default([]),
  sample: z.int().min(1).max(10_000_000).nullable().default(null),
  dedupe: z.boolean().default(false),
  splitBy: column.nullable().default(null),
  testShare: z.number().min(0).max(0.9).default(0.1),
  seed: z.int().min(0).default(42),
});
const hub = z.object({ source: line, split: z.string().trim().min(1).max(100) });

export const imports = {
  /** Hands in a file; it is kept until it is imported or dropped. */
  upload: procedure.input(z.object({ name: line, content: z.instanceof(Blob) })).output(z.object({ uploadId: id })),
  /** The same for a file on the host, which stays where it is. */
  refer: procedure.input(z.object({ path })).output(z.object({ uploadId: id })),
  drop: procedure.input(z.object({ uploadId: id })),
  /** The first rows of a dataset of the Hub, before anything is downloaded. */
  hubPreview: procedure.input(hub.extend({ split: hub.shape.split.nullable() })).output(type<HubPreview>()),
  /** The other splits of its config, and which of them are usually held out. */
  hubSplits: procedure.input(hub).output(type<OtherSplits>()),
  /** Downloads a split in a job. */
  download: procedure.input(hub).output(z.object({ uploadId: id })),
  preview: procedure.input(how).output(type<ImportPlan>()),
  /** Writes the dataset; ends with its id. */
  run: procedure
    .input(how.extend({ name: z.string().trim().min(1).max(60), replace: z.boolean().default(false) }))
    .output(z.object({ datasetId: id })),
};
