/** What the study compares, fixed beforehand: settings over the preset interleave-tiny. */
import type { TrainConfig } from '../../main/trainer/config.ts';

export interface Arm {
  readonly name: string;
  readonly about: string;
  /** The arm that it is compared with. */
  readonly against: 'plain' | 'direct';
  /** Words a fragment of the held-out pairs. */
  readonly aim: number;
  readonly stages: readonly (Partial<TrainConfig> & { readonly words: readonly number[] })[];
}

const STEPS = 45;
const ten = { words: [10], max_steps: STEPS };

/** At 50 words the plain loop and the ladder do as many steps. */
const LADDER = [10, 25, 50];
const FAR = 50;
const STEPS_A_STAGE = 60;

export const arms: readonly Arm[] = [
  { name: 'plain', about: 'the preset', against: 'plain', aim: 10, stages: [ten] },
  {
    name: 'dynamic-sampling',
    about: '`dynamic_sampling: 3`',
    ...{ against: 'plain', aim: 10, stages: [{ ...ten, dynamic_sampling: 3 }] },
  },
  {
    name: 'greso',
    about: '`greso_exploration: 0.5`',
    ...{ against: 'plain', aim: 10, stages: [{ ...ten, greso_exploration: 0.5 }] },
  },
  {
    name: 'pods',
    about: '`pods_update_size: 8` of 16, as many prompts',
    ...{ against: 'plain', aim: 10, stages: [{ ...ten, pods_update_size: 8, per_device_train_batch_size: 64 }] },
  },
  {
    name: 'maxrl',
    about: '`scale_rewards: mean`',
    ...{ against: 'plain', aim: 10, stages: [{ ...ten, scale_rewards: 'mean' }] },
  },
  {
    name: 'adaptive-entropy',
    about: "`use_adaptive_entropy: true`, TRL's defaults",
    ...{ against: 'plain', aim: 10, stages: [{ ...ten, use_adaptive_entropy: true }] },
  },
  {
    name: 'adarft',
    about: '`adarft_target_reward: 0.9` on 2, 4, 6, 8 and 10 words',
    ...{ against: 'plain', aim: 10, stages: [{ ...ten, words: [2, 4, 6, 8, 10], adarft_target_reward: 0.9 }] },
  },
  {
    name: 'direct',
    about: `${LADDER.length * STEPS_A_STAGE} steps on ${FAR} words`,
    ...{ against: 'direct', aim: FAR },
    stages: [{ words: [FAR], max_steps: LADDER.length * STEPS_A_STAGE }],
  },
  {
    name: 'curriculum',
    about: `${STEPS_A_STAGE} steps each on ${LADDER.join(', ')} words`,
    ...{ against: 'direct', aim: FAR },
    stages: LADDER.map((words) => ({ words: [words], max_steps: STEPS_A_STAGE })),
  },
];
