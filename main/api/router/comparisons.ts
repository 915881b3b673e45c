import {
  comparisonFigures,
  continueComparison,
  exportComparison,
  listComparisons,
  promptAnswers,
  promptSources,
  readComparison,
  removeComparison,
  startComparison,
} from '../../services/comparisons/paired/index.ts';
import { api } from '../context.ts';

export const comparisons = {
  list: api.comparisons.list.handler(({ context }) => listComparisons(context.app.store)),
  sources: api.comparisons.sources.handler(({ context }) => promptSources(context.app.store)),
  get: api.comparisons.get.handler(({ context, input }) => readComparison(context.app, input.id)),
  prompt: api.comparisons.prompt.handler(({ context, input }) =>
    promptAnswers(context.app.store, input.id, input.recordId),
  ),
  start: api.comparisons.start.handler(({ context, input }) => ({ id: startComparison(context.app, input) })),
  resume: api.comparisons.resume.handler(({ context, input }) =>
    continueComparison(context.app, input.id, input.fresh),
  ),
  remove: api.comparisons.remove.handler(({ context, input }) => removeComparison(context.app, input.id)),
  export: api.comparisons.export.handler(({ context: { app }, input: { id, format } }) =>
    exportComparison(app.store, readComparison(app, id), format),
  ),
  figures: api.comparisons.figures.handler(({ context: { app }, input }) =>
    comparisonFigures(readComparison(app, input.id)),
  ),
};
