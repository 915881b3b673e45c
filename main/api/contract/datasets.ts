/** Datasets: generated from the corpus, opened, searched, removed; and their prompt templates. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { Leakage } from '../../services/datasets/leakage.ts';
import type { StoredTemplate } from '../../services/datasets/templates.ts';
import type { DatasetDetail, DatasetSummary } from '../../services/library/catalogue.ts';
import type { FoundFile } from '../../services/library/found-files.ts';
import type { MadeDatasets, TakenName } from '../../services/library/make-datasets.ts';
import type { RecordPage } from '../../services/library/record-files.ts';
import type { DatasetPreview } from '../../services/text-worker/dataset-tasks.ts';
import { id, line, list, procedure, seed } from './base.ts';

const words = z.int().min(1).max(5000);
const pairs = z.int().min(1).max(100_000);
const version = z.int().min(1);
const name = z.string().trim().max(60).optional();
/** One dataset of all the word counts together. */
const mixed = z.boolean().optional();
const recipe = {
  train: pairs,
  test: pairs,
  seed,
  template: z.object({ name: line, version }),
};
const stages = list(words, { min: 1, max: 50 });

export const datasets = {
  list: procedure.output(type<readonly DatasetSummary[]>()),
  get: procedure.input(z.object({ id })).output(type<DatasetDetail>()),
  /** Files in the workspace's datasets folder that are not listed yet. */
  found: procedure.output(type<readonly FoundFile[]>()),
  /** Adds such a file as a dataset if all of its records are valid. */
  takeIn: procedure.input(z.object({ name: z.string().min(1).max(255) })).output(z.object({ id })),
  /** A page of records; `search` covers all fields but the prompt. */
  records: procedure
    .input(
      z.object({
        id,
        side: z.enum(['train', 'test']),
        offset: z.int().min(0),
        limit: z.int().min(1).max(200),
        search: z.string().max(200).optional(),
      }),
    )
    .output(type<RecordPage>()),
  /** Whether the test records are held out; null where there are none. */
  leakage: procedure.input(z.object({ id })).output(type<Leakage | null>()),
  /** Preview: the first records that would be generated. */
  preview: procedure
    .input(z.object({ ...recipe, words, show: z.int().min(1).max(100).default(20) }))
    .output(type<DatasetPreview>()),
  /** Which names are already in use, and what depends on them. */
  taken: procedure.input(z.object({ stages, name, mixed })).output(type<readonly TakenName[]>()),
  /** Generates the datasets of one or more stages; ends when they are written. */
  make: procedure
    .input(z.object({ ...recipe, stages, name, mixed, replace: z.boolean().default(false) }))
    .output(type<MadeDatasets>()),
  /** Removes a dataset and its files. */
  remove: procedure.input(z.object({ id })),
  templates: procedure.output(type<readonly StoredTemplate[]>()),
  /** Saves a template as the next version of its name. */
  saveTemplate: procedure
    .input(z.object({ name: line, text: z.string().min(1).max(20_000) }))
    .output(type<StoredTemplate>()),
  removeTemplate: procedure.input(z.object({ name: line, version })),
};
