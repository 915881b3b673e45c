/** Datasets: generated from texts, written and read as JSONL, checked for leakage. */
export {
  type DatasetFiles,
  datasetFiles,
  parseDataset,
  readDataset,
  toJsonLines,
  writeDataset,
} from './datasets/files.ts';
export {
  type CurriculumOptions,
  type DatasetOptions,
  type GeneratedDataset,
  generateCurriculum,
  generateDataset,
  generateStages,
} from './datasets/generate.ts';
export { findLeakage, type Leakage, type Overlap } from './datasets/leakage.ts';
export { type RecordedDataset, recordDataset } from './datasets/recorded.ts';
export { splitTexts, type TextSplit } from './datasets/split.ts';
export { curriculumWords, defaultPairs, type PairCounts, type StageSupply, stageSupply } from './datasets/supply.ts';
export { readTemplate } from './datasets/template-file.ts';
