/**
 * Tasks on texts and their scores that may take seconds and run in a separate thread: pure functions of their input,
 * except for those that write files. The host calls them by name (workers.ts).
 */
import { appendRecord } from '../datasets/append-record.ts';
import { planImport, writeImport } from '../datasets/import/plan.ts';
import { recordFacts } from '../datasets/record-facts.ts';
import { drawRecords, recordAt, recordPage } from '../datasets/record-page.ts';
import { writeTrialRecords } from '../datasets/reply-split/trial-records.ts';
import { comparisonTable } from './comparison-table.ts';
import { checkLeakage, inspectDataset, previewDataset, writeDatasets } from './dataset-tasks.ts';
import { readDocument } from './document-task.ts';
import { mergeImport, readImport } from './import-tasks.ts';
import { planJoin } from './join-task.ts';
import { overview } from './overview-task.ts';
import { importReplies, splitReplyRecords } from './reply-tasks.ts';
import { compareWords, findSimilar } from './similar-task.ts';
import { planSplit } from './split-task.ts';

export const tasks = {
  overview,
  readDocument,
  readImport,
  mergeImport,
  planJoin,
  previewDataset,
  checkLeakage,
  inspectDataset,
  writeDatasets,
  planSplit,
  findSimilar,
  compareWords,
  recordPage,
  recordAt,
  drawRecords,
  importReplies,
  splitReplyRecords,
  writeTrialRecords,
  recordFacts,
  appendRecord,
  comparisonTable,
  planImport,
  writeImport,
};

export type Tasks = typeof tasks;
export type TaskName = keyof Tasks;
export type TaskInput<N extends TaskName> = Parameters<Tasks[N]>[0];
export type TaskOutput<N extends TaskName> = Awaited<ReturnType<Tasks[N]>>;
