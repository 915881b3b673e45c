import { curriculum } from '../../services/curriculum.ts';
import { addStage, changeStage, moveStage, planCurriculum, removeStage } from '../../services/curriculum-edit.ts';
import { startDemoStage } from '../../services/demo-stage.ts';
import { forgetting } from '../../services/forgetting.ts';
import { startForgettingCheck } from '../../services/forgetting-job.ts';
import { preflight } from '../../services/preflight.ts';
import { promotionOf } from '../../services/promotion.ts';
import { readSettings } from '../../services/settings.ts';
import { stageConfig, stageDefaults } from '../../services/stage-config.ts';
import { makeStageDatasets } from '../../services/stage-datasets.ts';
import { requireStage } from '../../services/stage-queue.ts';
import type { Store } from '../../store/index.ts';
import { checkStart } from '../config-paths.ts';
import { api, type PathAccess } from '../context.ts';

export const stages = {
  list: api.stages.list.handler(({ context: { app } }) => curriculum(app, readSettings(app.store).auto_promote)),
  add: api.stages.add.handler(({ context: { app, access }, input }) => {
    checkPaths(app.store, access, input.config);
    const stageId = addStage(app.store, input);
    app.changes.publish('stages');
    return { stageId };
  }),
  change: api.stages.change.handler(({ context: { app, access }, input: { stageId, ...edit } }) => {
    checkPaths(app.store, access, edit.config);
    changeStage(app.store, stageId, edit);
    app.changes.publish('stages');
  }),
  remove: api.stages.remove.handler(({ context: { app }, input }) => {
    removeStage(app.store, input.stageId);
    app.changes.publish('stages');
  }),
  move: api.stages.move.handler(({ context: { app }, input }) => {
    moveStage(app.store, input.stageId, input.to);
    app.changes.publish('stages');
  }),
  plan: api.stages.plan.handler(({ context: { app } }) => {
    const added = planCurriculum(app.store);
    app.changes.publish('stages');
    return { added };
  }),
  makeDatasets: api.stages.makeDatasets.handler(async ({ context: { app } }) => {
    const shortages = await makeStageDatasets(app.library);
    app.changes.publish('stages');
    return shortages;
  }),
  config: api.stages.config.handler(({ context: { app }, input }) => {
    const stage = requireStage(app.store, input.stageId);
    return { defaults: stageDefaults(app.store, stage, app.paths), own: stage.config };
  }),
  preflight: api.stages.preflight.handler(({ context: { app }, input }) => {
    const stage = requireStage(app.store, input.stageId);
    const plan = () => stageConfig(app.store, stage, app.paths);
    return app.jobs.start('preflight', `Check "${stage.name}" before its start`, (context) =>
      preflight(app, plan, promotionOf(stage), context),
    ).result;
  }),
  start: api.stages.start.handler(({ context, input }) => ({ runId: context.app.queue.start(input.stageId) })),
  enqueue: api.stages.enqueue.handler(({ context, input }) => context.app.queue.enqueue(input.stageId)),
  dequeue: api.stages.dequeue.handler(({ context, input }) => context.app.queue.dequeue(input.stageId)),
  release: api.stages.release.handler(({ context }) => context.app.queue.release()),
  forgetting: api.stages.forgetting.handler(({ context: { app } }) => forgetting(app.store, app.paths)),
  checkForgetting: api.stages.checkForgetting.handler(({ context }) => startForgettingCheck(context.app).result),
  demo: api.stages.demo.handler(async ({ context: { app } }) => {
    const runId = await startDemoStage(app);
    app.changes.publish('datasets');
    return { runId };
  }),
};

/** A stage's own settings may name files: only those that the page may read. */
function checkPaths(store: Store, access: PathAccess, config: Readonly<Record<string, unknown>> = {}): void {
  if (typeof config.eval_dataset === 'string') access.check(config.eval_dataset);
  if (typeof config.from_checkpoint === 'string') checkStart(config.from_checkpoint, access, store);
}
