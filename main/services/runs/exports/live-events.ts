/**
 * TensorBoard events of a run as it trains: one file for each time that it is started or resumed, in a folder of its
 * name. A resumed run's file starts with a session mark, by which TensorBoard drops the steps that are repeated.
 */

import * as fs from 'node:fs';
import { join } from 'node:path';
import type { FileOps } from '../../../io/atomic-write.ts';
import { makeFolder } from '../../../io/make-folder.ts';
import { appendText } from '../step-log.ts';
import { scalarRecord, sessionStart, tensorBoardName, tensorBoardSecond, versionRecord } from './tensorboard.ts';

export interface LiveEvents {
  /** Adds the metrics of a step. */
  add(step: number, values: Readonly<Record<string, number>>): void;
}

/** Starts the file of a session that continues after `from`. Throws what the file system does. */
export function openLiveEvents(
  folder: string,
  from: number,
  now: () => Date = () => new Date(),
  ops: FileOps = fs,
): LiveEvents {
  const seconds = (): number => now().getTime() / 1000;
  const isNew = makeFolder(folder);
  // TensorBoard reads files by the second in their names: a resumed run's comes last, also after a clock set back.
  const second = Math.max(seconds(), ...fs.readdirSync(folder).map((name) => 1 + tensorBoardSecond(name)));
  const path = join(folder, `${tensorBoardName(second)}.${process.pid}.${from}`);
  const append = (record: Uint8Array): void => appendText(path, record, ops);
  append(versionRecord(seconds()));
  // A run that starts over evaluates its baseline, at step 0, again; a deleted run's name may be another's now.
  if (!isNew) append(sessionStart(from === 0 ? 0 : from + 1, seconds()));
  return { add: (step, values) => append(scalarRecord({ step, wallTime: seconds(), values })) };
}
