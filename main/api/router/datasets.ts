import { curriculumModel } from '../../services/curriculum/shared-settings.ts';
import { datasetFiles } from '../../services/datasets/files.ts';
import { listTemplates, removeTemplate, saveTemplate } from '../../services/datasets/templates.ts';
import {
  datasetDetail,
  leakageOf,
  listDatasets,
  removeDataset,
  requireDataset,
} from '../../services/library/catalogue.ts';
import { foundFiles, takeIn } from '../../services/library/found-files.ts';
import { makeDatasets, previewStage, takenNames } from '../../services/library/make-datasets.ts';
import { type ApiContext, api } from '../context.ts';

export const datasets = {
  list: api.datasets.list.handler(({ context }) => listDatasets(context.app.store)),
  get: api.datasets.get.handler(({ context, input }) => datasetDetail(context.app.store, input.id)),
  found: api.datasets.found.handler(({ context }) => foundFiles(context.app.library)),
  takeIn: api.datasets.takeIn.handler(async ({ context, input }) => ({
    id: await takeIn(context.app.library, input.name),
  })),
  records: api.datasets.records.handler(({ context: { app }, input: { id, side, ...request }, signal }) => {
    const files = datasetFiles(requireDataset(app.store, id).file);
    return app.library.records.page(files[side], request, signal);
  }),
  leakage: api.datasets.leakage.handler(({ context, input, signal }) =>
    leakageOf(context.app.library, input.id, signal),
  ),
  preview: api.datasets.preview.handler(({ context, input, signal }) =>
    previewStage(context.app.library, { ...input, model: modelOf(context.app) }, signal),
  ),
  taken: api.datasets.taken.handler(({ context, input }) => takenNames(context.app.library, input)),
  make: api.datasets.make.handler(({ context, input }) =>
    makeDatasets(context.app.library, { ...input, model: modelOf(context.app) }),
  ),
  remove: api.datasets.remove.handler(({ context, input }) => removeDataset(context.app.library, input.id)),
  templates: api.datasets.templates.handler(({ context }) => listTemplates(context.app.store)),
  saveTemplate: api.datasets.saveTemplate.handler(({ context: { app }, input: { name, text } }) => {
    const saved = saveTemplate(app.store, name, text);
    app.changes.publish('datasets');
    return saved;
  }),
  removeTemplate: api.datasets.removeTemplate.handler(({ context: { app }, input: { name, version } }) => {
    removeTemplate(app.store, name, version);
    app.changes.publish('datasets');
  }),
};

/** What the stages of new datasets will train. */
function modelOf({ store, paths }: ApiContext['app']) {
  return curriculumModel(store, paths);
}
