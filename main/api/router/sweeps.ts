import { inputError } from '../../errors.ts';
import { draftMethods, usualSplit } from '../../services/replies/method-sweep.ts';
import { startSplit } from '../../services/replies/work.ts';
import { createSweep } from '../../services/sweeps/create.ts';
import { type AllowConfig, checkPlan, draftSweep, type SweepDraft } from '../../services/sweeps/draft.ts';
import { estimateDraft, measureRuns, type SweepEstimate } from '../../services/sweeps/estimate.ts';
import type { SweepPlan } from '../../services/sweeps/plan.ts';
import { listSweeps, sweepView } from '../../services/sweeps/result.ts';
import { requireSweep } from '../../services/sweeps/sweep-runs.ts';
import { resultWhileAsked } from '../../services/workspace/asked-job.ts';
import { checkConfigPaths } from '../config-paths.ts';
import { type ApiContext, api } from '../context.ts';
import { baseFields, type NewRun } from '../run-control.ts';

type Context = Pick<ApiContext, 'app' | 'access'>;

/** What a page's configurations may name. */
function allowedTo({ app, access }: Context): AllowConfig {
  return (config) => checkConfigPaths(config, access, app);
}

/** A plan of a page as runs, their paths checked. */
function draftOf(context: Context, { plan, ...base }: NewRun & { readonly plan: SweepPlan }): SweepDraft {
  return draftSweep(plan, baseFields(context.app, base), allowedTo(context));
}

function draftOfReplies({ app }: Context, seeds: readonly number[]): Promise<SweepDraft> {
  return draftMethods(app, seeds, () => startSplit(app, usualSplit).result);
}

/** As a job, which ends when the page no longer waits for it. */
function estimate({ app }: Context, draft: SweepDraft, signal?: AbortSignal): Promise<SweepEstimate> {
  const job = app.jobs.start('preflight', `Estimate the sweep "${draft.name}"`, (job) =>
    estimateDraft(draft, measureRuns(app, job)),
  );
  return resultWhileAsked(app.jobs, job, signal);
}

function start({ app }: Context, draft: SweepDraft): { readonly sweepId: number } {
  const sweepId = createSweep(app.store, draft, app.paths, app);
  app.queue.addSweep(sweepId);
  return { sweepId };
}

export const sweeps = {
  list: api.sweeps.list.handler(({ context }) => listSweeps(context.app.store)),
  get: api.sweeps.get.handler(({ context, input }) => sweepView(context.app.store, input.sweepId)),
  preview: api.sweeps.preview.handler(({ context, input: { plan, ...base } }) =>
    checkPlan(plan, baseFields(context.app, base), allowedTo(context)),
  ),
  estimate: api.sweeps.estimate.handler(({ context, input, signal }) =>
    estimate(context, draftOf(context, input), signal),
  ),
  start: api.sweeps.start.handler(({ context, input }) => start(context, draftOf(context, input))),
  startReplies: api.sweeps.startReplies.handler(async ({ context, input }) =>
    start(context, await draftOfReplies(context, input.seeds)),
  ),
  estimateReplies: api.sweeps.estimateReplies.handler(async ({ context, input, signal }) =>
    estimate(context, await draftOfReplies(context, input.seeds), signal),
  ),
  pause: api.sweeps.pause.handler(({ context, input }) =>
    context.app.queue.remove({ kind: 'sweep', id: input.sweepId }),
  ),
  resume: api.sweeps.resume.handler(({ context, input }) => context.app.queue.addSweep(input.sweepId)),
  cancel: api.sweeps.cancel.handler(({ context: { app }, input }) => {
    app.queue.sweeps.cancel(input.sweepId);
    app.changes.publish('stages');
  }),
  retry: api.sweeps.retry.handler(({ context: { app }, input }) => {
    app.queue.sweeps.retry(input.sweepId);
    const { queuedAt, state } = requireSweep(app.store, input.sweepId);
    if (queuedAt === null && state !== 'running') app.queue.addSweep(input.sweepId);
  }),
  rename: api.sweeps.rename.handler(({ context: { app }, input: { sweepId, name } }) => {
    app.store.sweeps.rename(requireSweep(app.store, sweepId).id, name);
    app.changes.publish('sweeps', sweepId);
  }),
  remove: api.sweeps.remove.handler(({ context: { app }, input: { sweepId } }) => {
    const { name, state } = requireSweep(app.store, sweepId);
    if (state === 'queued' || state === 'running')
      throw inputError('SWEEP_BUSY', `"${name}" is ${state}`, 'Cancel it first; the runs that have ended are kept.');
    app.store.sweeps.remove(sweepId);
    app.changes.publish('sweeps', sweepId);
  }),
};
