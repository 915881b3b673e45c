/** A run's task and its records as token ids, wherever the run is computed. */
import { inputError } from '../../errors.ts';
import { openTask, scoresAlone } from '../../tasks/index.ts';
import type { Task } from '../../tasks/task.ts';
import { checkTaskWeights } from '../config/combinations.ts';
import type { TrainConfig } from '../config/config.ts';
import type { TrainerStart } from '../protocol/start.ts';
import { encodeStart, type SessionTokens } from './encode-start.ts';
import { checkWritable } from './writable.ts';

/** The task of a run; a reward that can't run is found here. */
export function openRunTask(start: TrainerStart): Task {
  const task = openTask(start.task, start.rewardWorker, start.rewardAccess ?? null);
  checkMethod(task, start.config);
  checkTaskWeights(start.config, task);
  // Even without completions it loads the reward.
  task.score([]);
  return task;
}

/** Refuses methods that compare single texts or fit a target. */
function checkMethod({ maxTurns }: Pick<Task, 'maxTurns'>, { method }: Pick<TrainConfig, 'method'>): void {
  if (maxTurns === undefined || method === 'grpo') return;
  throw inputError(
    'ENVIRONMENT_METHOD',
    method === 'polychromic-grpo'
      ? 'Polychromic GRPO compares completions as single texts, and this task has an environment: its completions are conversations'
      : `Method ${method} fits target texts, and this task has an environment: its completions are conversations`,
    'Use the method grpo.',
  );
}

/** A run's records as token ids. A new run is refused where its model can't write them. */
export function encodeWritable(start: TrainerStart, task: Task): SessionTokens {
  const tokens = encodeStart(start, task);
  if (start.resumeFrom === null) checkWritable(tokens, task, start.config, scoresAlone(start.task));
  return tokens;
}
