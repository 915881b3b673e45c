/** Stored completions: by step, individually, by record, searched across runs. */
import { eventIterator, type } from '@orpc/contract';
import { z } from 'zod';
import type { SampleFacts, ShownColumn } from '../../samples/sample.ts';
import type { ExportPart, FoundSample } from '../../services/runs/samples/find.ts';
import type { RecordStep, RunSamples, SampleView } from '../../services/runs/samples/samples.ts';
import type { SampleCount } from '../../store/sample-finder.ts';
import { id, procedure } from './base.ts';

const count = z.int().min(0);
const step = z.object({ runId: id, step: count });
const bound = z.number().optional();

const filter = z.object({
  runId: id.optional(),
  step: count.optional(),
  group: count.optional(),
  recordId: z.string().max(500).optional(),
  /** Exclusive bounds on the reward. */
  below: bound,
  above: bound,
  exact: z.boolean().optional(),
  terminated: z.boolean().optional(),
  component: z.object({ name: z.string().min(1).max(200), below: bound, above: bound }).optional(),
  words: z.string().max(500).optional(),
  inPrompts: z.boolean().optional(),
});
const order = z.enum(['newest', 'lowest', 'highest']).default('newest');

export const samples = {
  /** The run with the newest stored completions; null: there are none. */
  newest: procedure.output(type<number | null>()),
  ofRun: procedure.input(z.object({ runId: id })).output(type<RunSamples>()),
  ofStep: procedure.input(step).output(type<readonly SampleFacts[]>()),
  get: procedure.input(step.extend({ group: count, index: count })).output(type<SampleView>()),
  /** One record over the course of the run. */
  ofRecord: procedure
    .input(z.object({ runId: id, recordId: z.string().min(1).max(500) }))
    .output(type<readonly RecordStep[]>()),
  /** The figures that pages show of each completion. */
  columns: procedure.output(type<readonly ShownColumn[]>()),
  /** What they are filtered by: reward components, turns, calls. */
  components: procedure.output(type<readonly string[]>()),
  count: procedure.input(filter).output(type<SampleCount>()),
  find: procedure
    .input(z.object({ filter, order, limit: z.int().min(1).max(200).default(100), offset: count.default(0) }))
    .output(type<readonly FoundSample[]>()),
  /** A file of everything that a filter matches, in chunks. */
  export: procedure
    .input(z.object({ filter, order, format: z.enum(['jsonl', 'csv']) }))
    .output(eventIterator(type<ExportPart>())),
};
