import { BraidError } from '../../errors.ts';
import { curriculum } from '../../services/curriculum/curriculum.ts';
import { startDemoStage } from '../../services/curriculum/demo-stage.ts';
import {
  addStage,
  changeStage,
  editedStage,
  moveStage,
  planCurriculum,
  type StageEdit,
} from '../../services/curriculum/edit.ts';
import { forgetting } from '../../services/curriculum/forgetting.ts';
import { startForgettingCheck } from '../../services/curriculum/forgetting-job.ts';
import { changeSharedSettings, sharedSettings } from '../../services/curriculum/shared-settings.ts';
import { leftCheckpoint, loweredRate, stageConfig, stageDefaults } from '../../services/curriculum/stage-config.ts';
import { makeStageDatasets } from '../../services/curriculum/stage-datasets.ts';
import { requireStage } from '../../services/curriculum/stage-runs.ts';
import { withModelHere } from '../../services/models/starting-model.ts';
import { promotionOf } from '../../services/runs/promotion.ts';
import { preflight } from '../../services/training/preflight.ts';
import { readSettings } from '../../services/workspace/settings.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import { checkConfigPaths } from '../config-paths.ts';
import { type ApiContext, api } from '../context.ts';

export const stages = {
  list: api.stages.list.handler(({ context: { app } }) => curriculum(app, readSettings(app.store).auto_promote)),
  add: api.stages.add.handler(({ context: { app, access }, input }) => {
    const stageId = addStage(app.store, withPaths(input, access, app));
    app.changes.publish('stages');
    return { stageId };
  }),
  change: api.stages.change.handler(({ context: { app, access }, input: { stageId, ...edit } }) => {
    const { config: known } = requireStage(app.store, stageId);
    changeStage(app.store, stageId, withPaths(edit, access, app, known));
    if (edit.promotion !== undefined) app.queue.reconsider(stageId);
    app.changes.publish('stages');
  }),
  remove: api.stages.remove.handler(({ context: { app }, input }) => app.queue.removeStage(input.stageId)),
  move: api.stages.move.handler(({ context: { app }, input }) => {
    moveStage(app.store, input.stageId, input.to);
    app.changes.publish('stages');
  }),
  plan: api.stages.plan.handler(({ context: { app } }) => {
    const added = planCurriculum(app.store);
    app.changes.publish('stages');
    return { added };
  }),
  shared: api.stages.shared.handler(({ context: { app } }) => {
    const { preset, config } = sharedSettings(app.store, app.paths);
    return { preset, config: withModelHere({ ...config }, app.store, app.paths) };
  }),
  changeShared: api.stages.changeShared.handler(({ context: { app, access }, input }) => {
    const config = checkConfigPaths(input.config, access, app, sharedSettings(app.store, app.paths).config);
    changeSharedSettings(app.store, { ...input, config }, app.paths);
    app.changes.publish('stages');
  }),
  makeDatasets: api.stages.makeDatasets.handler(async ({ context: { app } }) => {
    const shortages = await makeStageDatasets(app.library);
    app.changes.publish('stages');
    return shortages;
  }),
  config: api.stages.config.handler(({ context: { app, access }, input: { stageId, ...edit } }) => {
    const known = stageId === null ? {} : requireStage(app.store, stageId).config;
    const stage = editedStage(app.store, stageId, withPaths(edit, access, app, known));
    const defaults = stageDefaults(app.store, stage, app.paths);
    return {
      defaults,
      left: leftCheckpoint(app.store, stage, app.paths),
      lowered: loweredRate(app.store, defaults, app.paths),
    };
  }),
  preflight: api.stages.preflight.handler(async ({ context: { app }, input: { stageId, kept = false }, signal }) => {
    const stage = requireStage(app.store, stageId);
    const plan = () => stageConfig(app.store, stage, app.paths);
    const start = () =>
      app.jobs.start('preflight', `Pre-flight check of "${stage.name}"`, (context) =>
        preflight(app, plan, promotionOf(stage), context),
      );
    const key = JSON.stringify([stageId, stage.promotion, planned(plan)]);
    const report = await app.preflights.result({ key, kept, start, signal });
    // The time of the curriculum is known from the step that the check has measured.
    app.changes.publish('stages');
    return report;
  }),
  start: api.stages.start.handler(({ context, input }) => {
    agreeTo(context.app, input);
    return { runId: context.app.queue.start(input.stageId) };
  }),
  enqueue: api.stages.enqueue.handler(({ context, input }) => {
    agreeTo(context.app, input);
    context.app.queue.enqueue(input.stageId);
  }),
  countAsMet: api.stages.countAsMet.handler(({ context: { app }, input: { stageId, score } }) => {
    app.queue.countAsMet(stageId, score);
    const { position } = requireStage(app.store, stageId);
    const next = app.store.stages.list().find((stage) => stage.position > position && stage.state !== 'done');
    return { next: next?.id ?? null };
  }),
  dequeue: api.stages.dequeue.handler(({ context, input }) => context.app.queue.dequeue(input.stageId)),
  reorder: api.stages.reorder.handler(({ context: { app }, input }) => {
    app.store.transaction(() => app.store.stages.reorder(input.stageIds));
    app.changes.publish('stages');
  }),
  release: api.stages.release.handler(({ context }) => context.app.queue.release()),
  forgetting: api.stages.forgetting.handler(({ context: { app } }) => forgetting(app.store, app.paths)),
  checkForgetting: api.stages.checkForgetting.handler(({ context }) => startForgettingCheck(context.app).result),
  demo: api.stages.demo.handler(async ({ context: { app } }) => {
    const runId = await startDemoStage(app);
    app.changes.publish('datasets');
    return { runId };
  }),
};

/** The settings that are checked; null where there are none: the report says why. */
function planned(plan: () => TrainConfig): TrainConfig | null {
  try {
    return plan();
  } catch (error) {
    if (error instanceof BraidError) return null;
    throw error;
  }
}

/** The stage keeps what the user agreed to, for when it starts from the queue or again. */
function agreeTo(
  { store, changes }: ApiContext['app'],
  asked: { stageId: number; allowUnwritable?: boolean | undefined },
) {
  if (asked.allowUnwritable !== true) return;
  const { config } = requireStage(store, asked.stageId);
  changeStage(store, asked.stageId, { config: { ...config, allow_unwritable_words: true } });
  changes.publish('stages');
}

/** An edit of a page with the paths of its settings checked and absolute. */
function withPaths(
  edit: StageEdit,
  access: ApiContext['access'],
  app: ApiContext['app'],
  known: Parameters<typeof checkConfigPaths>[3] = {},
): StageEdit {
  return edit.config === undefined ? edit : { ...edit, config: checkConfigPaths(edit.config, access, app, known) };
}
