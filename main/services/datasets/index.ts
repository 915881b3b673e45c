/** Datasets: generated from texts, written and read as JSONL, checked for leakage. */
export {
  type DatasetFiles,
  datasetFiles,
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
  generateStages,
  mixStages,
  quotedInPairs,
  sidesOf,
  type TextOnSide,
} from './generate.ts';
export { countLeakage, findLeakage, type Leakage, type Overlap } from './leakage.ts';
export { decideSides, type RecordedDataset, recordDataset } from './recorded.ts';
export { splitTexts, type TextSplit } from './split.ts';
export { curriculumWords, defaultPairs, type PairCounts, type StageSupply, stageSupply } from './supply.ts';
export { readTemplate } from './template-file.ts';
