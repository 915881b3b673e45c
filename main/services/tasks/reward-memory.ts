/** What a task's reward models take of the machine's memory, before anything is loaded. */
import { BraidError } from '../../errors.ts';
import { modelsBytes } from '../../trainer/memory/float32-bytes.ts';
import { findTask, type TaskPlaces } from './find-task.ts';
import { rewardModels } from './reward-access.ts';

/** In bytes; 0 for a task without models, and for one that can't be read: starting a run says why. */
export function rewardMemory(task: string, places: TaskPlaces): number {
  try {
    const source = findTask(task, places);
    return typeof source === 'string' ? 0 : modelsBytes(rewardModels(source, places));
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    return 0;
  }
}
