/** A baseline against any number of models on one frozen set of prompts. */
export { continueComparison, removeComparison, startComparison } from './compare.ts';
export { type ExportFormat, exportComparison, type TextFile } from './export.ts';
export { comparisonFigures, type Figure } from './figures.ts';
export { type PromptSource, promptSources } from './prompt-set.ts';
export {
  type ComparedModel,
  type ComparisonSummary,
  type ComparisonView,
  listComparisons,
  type PromptAnswers,
  type PromptRow,
  promptAnswers,
  readComparison,
} from './view.ts';
