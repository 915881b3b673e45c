/** Interleaving two texts word by word, as a training task. */
import type { Task } from '../task.ts';
import { measureCompletion } from './metrics.ts';
import { type InterleaveRecord, parseInterleaveRecord } from './record.ts';
import { alignmentReward } from './reward.ts';

/** The interleave task: the reward is the alignment with the exact target. */
export const interleaveTask: Task<InterleaveRecord> = {
  name: 'interleave',
  rewardNames: ['alignment'],
  rewardWeights: null,
  highestReward: 1,
  hasTargets: true,
  mainMetric: 'alignment',
  show: 'aligned',
  maxCompletionLength: null,
  check: null,
  parseRecord: parseInterleaveRecord,
  quoted: (record) => [record.fragment_a, record.fragment_b],
  target: (record) => record.target,
  score: (answers) =>
    answers.map(({ record, completion }) => ({
      components: { alignment: alignmentReward(record.target, completion) },
      failure: null,
    })),
  measure: (answers) => answers.map(({ record, completion }) => measureCompletion(record.target, completion)),
  fit: () => interleaveTask,
  close: () => undefined,
};
