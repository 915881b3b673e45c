/** A baseline against any number of models on one frozen set of prompts. */
export { continueComparison, removeComparison, startComparison } from './model-comparisons/compare.ts';
export { type ExportFormat, exportComparison, type TextFile } from './model-comparisons/export.ts';
export { comparisonFigures, type Figure } from './model-comparisons/figures.ts';
export { type PromptSource, promptSources } from './model-comparisons/prompt-set.ts';
export {
  type ComparedModel,
  type ComparisonSummary,
  type ComparisonView,
  listComparisons,
  type PromptAnswers,
  type PromptRow,
  promptAnswers,
  readComparison,
} from './model-comparisons/view.ts';
