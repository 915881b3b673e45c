/** The first click of a newcomer: the demo's dataset, its stage in the curriculum, its run. */
import type { App } from './app.ts';
import { addStage, changeStage, moveStage } from './curriculum-edit.ts';
import { makeDemoDataset } from './stage-datasets.ts';

/** The stage that the demo makes, and finds again. */
export const demoStageName = 'Demo: 10 words';

/** Starts the demo stage, made where it isn't there yet. Gives its run; one that trains already is that run. */
export async function startDemoStage({
  store,
  library,
  live,
  queue,
}: Pick<App, 'store' | 'library' | 'live' | 'queue'>): Promise<number> {
  const there = store.stages.list().find(({ name }) => name === demoStageName);
  const training = live.list().find(({ stageId }) => stageId !== null && stageId === there?.id);
  if (training !== undefined) return training.runId;
  const datasetId = await makeDemoDataset(library);
  if (there !== undefined) {
    changeStage(store, there.id, { datasetId });
    return queue.start(there.id);
  }
  const stageId = addStage(store, { name: demoStageName, datasetId });
  moveStage(store, stageId, 0);
  return queue.start(stageId);
}
