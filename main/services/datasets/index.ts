/** Datasets: generated from texts, written and read as JSONL, checked for leakage. */
export {
  type DatasetFiles,
  datasetFiles,
  GIVE_DATASET,
  parseDataset,
  readDataset,
  toJsonLines,
  writeDataset,
} from './files.ts';
export {
  type CurriculumOptions,
  type DatasetOptions,
  divideCorpus,
  type GeneratedDataset,
  generateCurriculum,
  generateDataset,
  mixStages,
  quotedInPairs,
  sidesOf,
  type TextOnSide,
} from './generate.ts';
export { findLeakage, type Leakage, type Overlap } from './leakage.ts';
export { decideSides, type RecordedDataset, recordDataset } from './recorded.ts';
export type { TextSplit } from './split.ts';
export { curriculumWords, defaultPairs, type PairCounts, type StageSupply } from './supply.ts';
export { readTemplate } from './template-file.ts';
