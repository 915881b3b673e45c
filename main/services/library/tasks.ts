/**
 * What is done with texts in a thread of its own, because it may take seconds: pure functions of what they are given,
 * but for those that write files. The host asks for them by name (workers.ts).
 */
import { recordFacts } from '../checklist/record-facts.ts';
import type { JobProgress } from '../trainer-job.ts';
import { writeTrialRecords } from '../trial/records.ts';
import { checkLeakage, inspectDataset, previewDataset, writeDatasets } from './dataset-tasks.ts';
import { mergeImport, readImport } from './import-tasks.ts';
import { planJoin } from './join-task.ts';
import { overview } from './overview-task.ts';
import { importReplies, splitReplyRecords } from './reply-tasks.ts';

/** What a task is given besides its input. */
export interface TaskContext {
  progress(progress: JobProgress): void;
  /** Asked between two files by tasks that write: they end in good order. Others are ended from outside. */
  cancelled(): boolean;
}

export const tasks = {
  ...{ overview, readImport, mergeImport, planJoin, previewDataset, checkLeakage, inspectDataset, writeDatasets },
  ...{ importReplies, splitReplyRecords, writeTrialRecords, recordFacts },
};

export type Tasks = typeof tasks;
export type TaskName = keyof Tasks;
export type TaskInput<N extends TaskName> = Parameters<Tasks[N]>[0];
export type TaskOutput<N extends TaskName> = ReturnType<Tasks[N]>;
