/** The settings that a task's folder suggests for a run: its `run.yaml`, and the records that lie beside it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigFields, readConfigFile } from '../config/presets.ts';
import { type TaskPlaces, taskFolder } from './find-task.ts';

/** The optional files of a task's folder. */
export const SUGGESTED_CONFIG = 'run.yaml';
export const OWN_RECORDS = 'records.jsonl';

/** The fields of a new run of the task, before any others; none for a native task. */
export function taskStartConfig(task: string, places: TaskPlaces): ConfigFields {
  const folder = taskFolder(task, places);
  if (folder === null) return {};
  const [config, records] = [join(folder, SUGGESTED_CONFIG), join(folder, OWN_RECORDS)];
  return {
    ...(existsSync(config) && readConfigFile(config)),
    ...(existsSync(records) && { dataset: records }),
  };
}
