import type { App } from '../../services/app/app.ts';
import { stageStart } from '../../services/curriculum/stage-config.ts';
import { machineMemory } from '../../services/doctor/machine-memory.ts';
import { exportModel, ggufProblemOf } from '../../services/merge/export-model.ts';
import { startAdding, startAddingFound } from '../../services/models/add.ts';
import { foundModels } from '../../services/models/found.ts';
import { downloadModel } from '../../services/models/hub.ts';
import { HUB_TOKEN, hubAccess, hubOptions } from '../../services/models/hub-access.ts';
import { inspectModel, planOfModel } from '../../services/models/inspect.ts';
import { listModels } from '../../services/models/list.ts';
import { modelDependants, removeModel } from '../../services/models/remove.ts';
import { modelSizes } from '../../services/models/sizes.ts';
import { previewPush, startPush } from '../../services/publish/start-push.ts';
import type { StageRow } from '../../store/stages.ts';
import { api } from '../context.ts';

export const models = {
  list: api.models.list.handler(({ context }) => listModels(context.app)),
  sizes: api.models.sizes.handler(({ context }) => modelSizes(context.app)),
  inspect: api.models.inspect.handler(async ({ context: { app }, input }) =>
    inspectModel(app, input.ref, await machineMemory(app.paths)),
  ),
  plan: api.models.plan.handler(async ({ context: { app }, input: { ref, memoryGib } }) =>
    planOfModel(app, ref, memoryGib === null ? null : memoryGib * 2 ** 30, await machineMemory(app.paths)),
  ),
  found: api.models.found.handler(async ({ context: { app } }) => foundModels(app, await machineMemory(app.paths))),
  addFound: api.models.addFound.handler(({ context: { app }, input: { path } }) => startAddingFound(app, path)),
  import: api.models.import.handler(({ context: { app, access }, input: { path, copy } }) =>
    startAdding(app, access.check(path), copy),
  ),
  download: api.models.download.handler(({ context: { app }, input }) => ({
    jobId: downloadModel(app, input, hubOptions(app.secrets)),
  })),
  hubAccess: api.models.hubAccess.handler(({ context: { app } }) => hubAccess(app.secrets)),
  setHubToken: api.models.setHubToken.handler(({ context: { app }, input: { token } }) => {
    app.secrets.set(HUB_TOKEN, token);
    return hubAccess(app.secrets);
  }),
  ggufProblem: api.models.ggufProblem.handler(({ context, input }) => ggufProblemOf(context.app, input.ref)),
  export: api.models.export.handler(({ context: { app, access }, input: { into, ...input } }) =>
    exportModel(app, { ...input, into: into === null ? null : access.check(into) }),
  ),
  previewPush: api.models.previewPush.handler(({ context: { app }, input }) => previewPush(app, input)),
  push: api.models.push.handler(async ({ context: { app }, input: { isPublic, ...input } }) => ({
    jobId: await startPush(app, input, isPublic),
  })),
  served: api.models.served.handler(({ context: { app } }) => app.served.list()),
  serve: api.models.serve.handler(({ context: { app }, input }) => app.served.start(app, input.ref)),
  stopServing: api.models.stopServing.handler(({ context: { app }, input }) => app.served.stop(input.ref)),
  dependants: api.models.dependants.handler(({ context, input }) =>
    modelDependants(withStarts(context.app), input.ref),
  ),
  remove: api.models.remove.handler(async ({ context: { app }, input: { ref } }) => {
    await removeModel(withStarts(app), ref);
    await app.served.stop(ref);
  }),
};

/** The curriculum knows what its stages start from. */
function withStarts(app: App) {
  return { ...app, startOf: (stage: StageRow) => stageStart(app.store, stage, app.paths) };
}
