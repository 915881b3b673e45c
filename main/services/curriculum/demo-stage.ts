/** A new user's first click: the demo's dataset, its stage in the curriculum, its run. */

import { readPreset } from '../config/presets.ts';
import type { Library } from '../library/library.ts';
import type { LiveWorkspace } from '../training/live-runs.ts';
import { addStage, changeStage, moveStage } from './edit.ts';
import { makeDemoDataset } from './stage-datasets.ts';

/** The stage that the demo creates, and finds again. */
const demoStageName = 'Demo: 10 words';

/** Its steps are those of `npm run demo`. */
const PRESET = 'interleave-tiny';

/** Starts the demo stage, creating it if needed. Returns its run, or the one already training. */
export async function startDemoStage({
  store,
  library,
  live,
  paths,
  queue,
}: Pick<LiveWorkspace, 'store' | 'live' | 'paths'> & {
  readonly library: Library;
  readonly queue: { start(stageId: number): number };
}): Promise<number> {
  const there = store.stages.list().find(({ name }) => name === demoStageName);
  const training = live.list().find(({ stageId }) => stageId !== null && stageId === there?.id);
  if (training !== undefined) return training.runId;
  const datasetId = await makeDemoDataset(library);
  if (there !== undefined) {
    changeStage(store, there.id, { datasetId });
    return queue.start(there.id);
  }
  const steps = Number(readPreset(PRESET, paths).max_steps);
  const stageId = addStage(store, { name: demoStageName, datasetId, steps });
  moveStage(store, stageId, 0);
  return queue.start(stageId);
}
