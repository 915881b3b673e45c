/** Whether the disk takes a run's checkpoints, asked before it trains. */
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError } from '../../errors.ts';
import { writeError } from '../../io/atomic-write.ts';
import { knownDiskSpace } from '../../io/disk-space.ts';
import { formatBytes } from '../../text/format.ts';
import { readModelConfig } from '../../trainer/memory/model-folder.ts';
import { resolveModelParts } from '../models/resolve.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { checkpointSize, trainableOf } from './checkpoint-disk.ts';
import type { PlannedStart } from './planned-start.ts';

/**
 * Refuses a run whose next checkpoint would not fit: it would fail only there, with all its steps lost. Room for the
 * later ones is the pre-flight check's question, as it may be made meanwhile.
 */
export function requireCheckpointSpace(
  workspace: string,
  { config, modelFolder }: Pick<PlannedStart, 'config' | 'modelFolder'>,
  paths: HostPaths,
): void {
  // An engine elsewhere keeps the weights there.
  if (config.engine !== null) return;
  const outputs = join(workspace, 'outputs');
  const folder = existsSync(outputs) ? outputs : workspace;
  const free = knownDiskSpace(folder)?.freeBytes;
  if (free === undefined) return;
  const model = readModelConfig(resolveModelParts(modelFolder, paths).base);
  const needed = checkpointSize(trainableOf(model, config), config);
  if (needed <= free) return;
  throw new BraidError(
    'DISK_FULL',
    `Not enough space in ${folder} for a checkpoint of this run: ${formatBytes(needed)} needed, ${formatBytes(free)} free. Nothing was started`,
    { remedy: 'Free some space there, use a workspace on another disk, or train a smaller adapter.' },
  );
}

/** Refuses to resume a run whose folder can't be written: its steps would be lost at the next checkpoint, for the same reason. */
export function requireWritable(runFolder: string): void {
  if (!existsSync(runFolder)) return;
  try {
    accessSync(runFolder, constants.W_OK);
  } catch (error) {
    throw writeError(error, runFolder, "the run's next checkpoint");
  }
}
