import { shownColumns } from '../../samples/sample.ts';
import { exportSamples, findSamples } from '../../services/runs/samples/find.ts';
import {
  newestSamples,
  readSample,
  recordThroughRun,
  runSamples,
  stepSamples,
} from '../../services/runs/samples/samples.ts';
import { api } from '../context.ts';

export const samples = {
  newest: api.samples.newest.handler(({ context }) => newestSamples(context.app.store)),
  ofRun: api.samples.ofRun.handler(({ context, input }) => runSamples(context.app.store, input.runId)),
  ofStep: api.samples.ofStep.handler(({ context, input }) => stepSamples(context.app.store, input.runId, input.step)),
  get: api.samples.get.handler(({ context, input }) => readSample(context.app.store, input)),
  ofRecord: api.samples.ofRecord.handler(({ context, input: { runId, recordId } }) =>
    recordThroughRun(context.app.store, runId, recordId),
  ),
  columns: api.samples.columns.handler(() => shownColumns),
  components: api.samples.components.handler(({ context }) => context.app.store.samples.partNames()),
  count: api.samples.count.handler(({ context, input }) => context.app.store.sampleFinder.count(input)),
  find: api.samples.find.handler(({ context, input: { filter, ...page } }) =>
    findSamples(context.app.store, filter, page),
  ),
  export: api.samples.export.handler(({ context, input: { filter, order, format } }) =>
    exportSamples(context.app.store, filter, order, format),
  ),
};
