/** Tasks with files: listed, written, checked, and tried before anything is trained. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { DraftRecords } from '../../services/datasets/record-page.ts';
import type { RecordsSource } from '../../services/reward-trials/draft-records.ts';
import type { DraftCheck, RescoredDraft, TrialSources } from '../../services/reward-trials/drafts.ts';
import type { TextFunction } from '../../services/reward-trials/editor-functions.ts';
import type { TrialReport } from '../../services/reward-trials/trial-report.ts';
import type { ServerOffer } from '../../services/tasks/make-served-task.ts';
import type { TaskFiles, TaskSummary } from '../../services/tasks/task-list.ts';
import { id, path, procedure, seed } from './base.ts';

const name = z.string().trim().min(1).max(64);
const text = z.string().max(200_000);
const draft = z.object({ name, definition: text, reward: text });
const records = z.object({ datasetId: id.nullable(), side: z.enum(['train', 'test']) });
const source = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('run'), runId: id }),
  z.object({ kind: z.literal('examples') }),
  z.object({ kind: z.literal('sampled'), id }),
]);

const server = z.object({ address: z.string().max(2000), start: z.string().max(2000) });
const forms = z.object({
  /** The texts of its fields; null: all that the model writes is the action. */
  action: z.record(z.string().max(200), z.string().max(2000)).nullable(),
  message: z.string().trim().min(1).max(10_000),
});
const count = z.int().min(1).max(100_000);

export const tasks = {
  list: procedure.output(type<readonly TaskSummary[]>()),
  get: procedure.input(z.object({ name })).output(type<TaskFiles>()),
  /** Copies a task to a new name in the workspace. */
  create: procedure.input(z.object({ name, from: name })).output(z.object({ name: z.string() })),
  /** Copies a task's folder that lies elsewhere on the host to a name in the workspace. */
  add: procedure.input(z.object({ name, path })).output(z.object({ name: z.string() })),
  /**
   * What an OpenEnv server says of itself, once the user has agreed as in `allow`; null: they haven't. `message`: the template
   * of what the model reads; null: a suggested one.
   */
  readServer: procedure
    .input(z.object({ server, message: forms.shape.message.nullable() }))
    .output(type<ServerOffer | null>()),
  /** Makes a task of such a server. */
  createServed: procedure
    .input(z.object({ name, server, forms, maxTurns: count.max(100), size: count, testSize: count, seed }))
    .output(z.object({ name: z.string() })),
  /** Saves both texts, unless they were changed elsewhere since `over`, their hash; null: in any case. */
  save: procedure.input(draft.extend({ over: z.string().max(100).nullable() })).output(z.object({ hash: z.string() })),
  remove: procedure.input(z.object({ name })),
  /** Settings that the task's folder suggests for a run, with its records. */
  startConfig: procedure.input(z.object({ name })).output(type<Readonly<Record<string, unknown>>>()),
  /** What a reward can import. */
  functions: procedure.output(type<readonly TextFunction[]>()),
  /** Every fault of both texts, with its place. */
  check: procedure.input(draft).output(type<DraftCheck>()),
  recordsSources: procedure.input(z.object({ name })).output(type<readonly RecordsSource[]>()),
  /** Records as the draft reads them, those with faults first. */
  records: procedure
    .input(
      z.object({
        draft,
        from: records,
        offset: z.int().min(0).default(0),
        limit: z.int().min(1).max(200).default(50),
      }),
    )
    .output(type<DraftRecords>()),
  /** Completions that there are to try a reward on. */
  sources: procedure.input(z.object({ name })).output(type<TrialSources>()),
  /** Completions by a model, to try a reward on; ends when they are there. */
  sample: procedure
    .input(
      z.object({
        draft,
        from: records,
        model: z.string().min(1).max(4200),
        prompts: z.int().min(1).max(200),
        samples: z.int().min(1).max(64),
        temperature: z.number().min(0.01).max(5).default(1),
        seed: seed.default(42),
      }),
    )
    .output(z.object({ id })),
  /**
   * Asks the user, in a window of the system, to agree to what a component of the draft reaches. A browser has no such
   * window: it is refused with the command that agrees.
   */
  allow: procedure
    .input(z.object({ draft, component: z.string().max(100) }))
    .output(z.object({ allowed: z.boolean() })),
  /** Takes back what was agreed to for the draft. */
  forget: procedure.input(z.object({ draft })),
  /** Keeps the key of an address that rewards are asked from; null forgets it. */
  setKey: procedure.input(
    z.object({ address: z.string().min(1).max(2000), key: z.string().trim().min(1).max(500).nullable() }),
  ),
  /** The dry run: what the reward gives over completions. */
  try: procedure.input(z.object({ draft, source })).output(type<TrialReport>()),
  /** What a run's stored completions would have got. */
  rescore: procedure.input(z.object({ draft, runId: id })).output(type<RescoredDraft>()),
};
