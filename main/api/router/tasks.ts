import { allowComponent } from '../../services/reward-trials/draft-consent.ts';
import {
  draftRecords,
  importedDataset,
  recordsSources,
  sampleDraft,
} from '../../services/reward-trials/draft-records.ts';
import { checkDraft, draftSource, rescoreDraft, trialSources, tryDraft } from '../../services/reward-trials/drafts.ts';
import { textFunctions } from '../../services/reward-trials/editor-functions.ts';
import { allowServer } from '../../services/reward-trials/server-consent.ts';
import { forgetReaches } from '../../services/tasks/consent.ts';
import type { TaskPlaces } from '../../services/tasks/find-task.ts';
import { readServer, servedTask } from '../../services/tasks/make-served-task.ts';
import { addTask, copyTask, newFolder, newServedTask } from '../../services/tasks/new-task.ts';
import { setRewardKey } from '../../services/tasks/reward-keys.ts';
import { serverAccess } from '../../services/tasks/server-choice.ts';
import { taskStartConfig } from '../../services/tasks/start-config.ts';
import { listTasks, readTask, removeTask, requireSource, saveTask } from '../../services/tasks/task-list.ts';
import { checkTaskName } from '../../tasks/folder/source.ts';
import { WHOLE_ACTION } from '../../tasks/openenv/fit.ts';
import { type ApiContext, api } from '../context.ts';

const placesOf = ({ app: { store, paths } }: ApiContext): TaskPlaces => ({ workspace: store.folder, paths });

export const tasks = {
  list: api.tasks.list.handler(({ context }) => listTasks(placesOf(context))),
  get: api.tasks.get.handler(({ context, input }) => readTask(input.name, placesOf(context))),
  create: api.tasks.create.handler(({ context, input: { name, from } }) => {
    const places = placesOf(context);
    copyTask(checkTaskName(name), requireSource(from, places).folder, places);
    context.app.changes.publish('tasks');
    return { name };
  }),
  add: api.tasks.add.handler(({ context, input: { name, path } }) => {
    addTask(checkTaskName(name), context.access.check(path), placesOf(context));
    context.app.changes.publish('tasks');
    return { name };
  }),
  readServer: api.tasks.readServer.handler(async ({ context: { app, host }, input: { server, message } }) => {
    if (!(await allowServer(app, server, host.dialogs?.confirm ?? null))) return null;
    return readServer(server, serverAccess(server, app.paths.externalRewards, app), message);
  }),
  createServed: api.tasks.createServed.handler(async ({ context, input: { name, server, forms, ...numbers } }) => {
    const { app } = context;
    const places = placesOf(context);
    newFolder(checkTaskName(name), places.workspace);
    const { maxTurns: max_turns, testSize: test_size, size, seed } = numbers;
    const access = serverAccess(server, app.paths.externalRewards, app);
    const action = forms.action ?? WHOLE_ACTION;
    const made = await servedTask(server, access, { ...forms, action }, { max_turns, test_size, size, seed });
    newServedTask(name, made, places);
    app.changes.publish('tasks');
    return { name };
  }),
  save: api.tasks.save.handler(({ context, input: { name, ...texts } }) => {
    const hash = saveTask(name, texts, placesOf(context));
    context.app.changes.publish('tasks');
    return { hash };
  }),
  remove: api.tasks.remove.handler(({ context, input }) => {
    removeTask(input.name, placesOf(context));
    context.app.changes.publish('tasks');
  }),
  startConfig: api.tasks.startConfig.handler(({ context, input }) => ({
    ...taskStartConfig(requireSource(input.name, placesOf(context)).name, placesOf(context)),
    ...importedDataset(context.app, input.name),
    task: input.name,
  })),
  functions: api.tasks.functions.handler(({ context }) => textFunctions(context.app.paths)),
  check: api.tasks.check.handler(({ context, input }) => checkDraft(context.app, input)),
  recordsSources: api.tasks.recordsSources.handler(({ context, input }) => recordsSources(context.app, input.name)),
  records: api.tasks.records.handler(({ context, input: { draft, from, ...page } }) =>
    draftRecords(context.app, draft, from, page),
  ),
  sources: api.tasks.sources.handler(({ context, input }) => trialSources(context.app, input.name)),
  sample: api.tasks.sample.handler(async ({ context, input: { draft, from, ...request } }) => ({
    id: await sampleDraft(context.app, draft, { ...from, ...request }),
  })),
  allow: api.tasks.allow.handler(async ({ context: { app, host }, input: { draft, component } }) => {
    const allowed = await allowComponent(app, draftSource(draft, app), component, host.dialogs?.confirm ?? null);
    if (allowed) app.changes.publish('tasks');
    return { allowed };
  }),
  forget: api.tasks.forget.handler(({ context: { app }, input }) => {
    forgetReaches(draftSource(input.draft, app), app.consents);
    app.changes.publish('tasks');
  }),
  setKey: api.tasks.setKey.handler(({ context: { app }, input: { address, key } }) => {
    setRewardKey(app.secrets, address, key);
    app.changes.publish('tasks');
  }),
  try: api.tasks.try.handler(({ context, input }) => tryDraft(context.app, input.draft, input.source)),
  rescore: api.tasks.rescore.handler(({ context, input }) => rescoreDraft(context.app, input.draft, input.runId)),
};
