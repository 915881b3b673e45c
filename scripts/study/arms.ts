/** What the study compares, fixed beforehand: settings over the preset interleave-tiny. */
import { defaultSteps } from '../../main/services/curriculum/edit.ts';
import type { TrainConfig } from '../../main/trainer/config/config.ts';
import type { Conditions } from '../kept-results.ts';

export interface ArmStage extends Partial<TrainConfig> {
  /** Words a fragment; of several lengths, as many records each. */
  readonly words: readonly number[];
  /** Records to train on, of all lengths together. */
  readonly records: number;
}

export interface Arm {
  readonly name: string;
  readonly about: string;
  /** The arm that has every other setting in common with it; null: others are compared with this one. */
  readonly against: string | null;
  /** Words a fragment of the held-out pairs. */
  readonly aim: number;
  /**
   * When held-out pairs are completed: between the steps of a run, or by its checkpoints. The longest record of a run,
   * held-out ones included, limits its rollouts, so a stage of shorter texts than those aimed at has to be evaluated apart.
   */
  readonly evaluated: 'in the run' | 'by checkpoints';
  readonly stages: readonly ArmStage[];
}

export const TEST_PAIRS = 64;
/** Steps between two evaluations by checkpoints. */
export const CHECKPOINT_STEPS = 10;
/** Half of the preset's, whose runs reach the score within 6 to 16 steps: too few for settings to differ. */
export const RATE = 1e-4;
/** Eight steps draw each prompt once; what depends on a prompt's history shows from the second time on. */
export const RECORDS = 64;
/** Steps of each arm at 10 words, and of each stage of the ladder. */
export const STEPS = defaultSteps;
const LADDER = [10, 25, 50];
const FAR = 50;
const FAR_RECORDS = 512;

const ten = { words: [10], records: RECORDS, max_steps: STEPS, learning_rate: RATE, eval_steps: 1 };
/** Each generation serves four steps: without that, nothing is off-policy. */
const reused = { num_iterations: 4 };
/** Without a KL term there is no reference. */
const kl = { beta: 0.04 };

const option = (name: string, about: string, settings: Partial<ArmStage>, against: string | null = 'plain'): Arm => ({
  name,
  about,
  against,
  aim: 10,
  evaluated: 'in the run',
  stages: [{ ...ten, ...settings }],
});
const far = (name: string, about: string, lengths: readonly number[], against: string | null): Arm => ({
  name,
  about,
  against,
  aim: FAR,
  evaluated: 'by checkpoints',
  stages: lengths.map((words) => ({
    words: [words],
    records: FAR_RECORDS,
    max_steps: (LADDER.length * STEPS) / lengths.length,
  })),
});

/** Compared by the time to a score. */
export const options: readonly Arm[] = [
  option('plain', 'the plain loop', {}, null),
  option('dynamic-sampling', '`dynamic_sampling: 3`', { dynamic_sampling: 3 }),
  option('greso', '`greso_exploration: 0.5`', { greso_exploration: 0.5 }),
  option('pods', '`pods_update_size: 8` of 16, as many prompts', {
    pods_update_size: 8,
    per_device_train_batch_size: 64,
  }),
  option('group', "`scale_rewards: group`, TRL's default", { scale_rewards: 'group' }),
  option('maxrl', '`scale_rewards: mean`', { scale_rewards: 'mean' }),
  option('adaptive-entropy', "`use_adaptive_entropy: true`, TRL's defaults", { use_adaptive_entropy: true }),
  option('adarft', '`adarft_target_reward: 0.9` on 2, 4, 6, 8 and 10 words', {
    words: [2, 4, 6, 8, 10],
    adarft_target_reward: 0.9,
  }),
  option('reused', '`num_iterations: 4`', reused),
  option('vespo', '`loss_type: vespo`, `num_iterations: 4`', { ...reused, loss_type: 'vespo' }, 'reused'),
  // TRL's documentation begins with 0.5: a whole nat on half of the tokens, where a wrong answer differs in a few.
  option(
    'off-policy-mask',
    '`off_policy_mask_threshold: 0.03`, `num_iterations: 4`',
    { ...reused, off_policy_mask_threshold: 0.03 },
    'reused',
  ),
  option('kl', '`beta: 0.04`', kl),
  option(
    'sync-ref-model',
    '`sync_ref_model: true` every 10 steps, `beta: 0.04`',
    { ...kl, sync_ref_model: true, ref_model_sync_steps: 10 },
    'kl',
  ),
];

/** Compared by the score after as many steps, and after as many seconds. */
export const ladders: readonly Arm[] = [
  far('direct', `${LADDER.length * STEPS} steps on ${FAR} words`, [FAR], null),
  far('curriculum', `${STEPS} steps each on ${LADDER.join(', ')} words`, LADDER, 'direct'),
];

export const arms: readonly Arm[] = [...options, ...ladders];

/** What a result of the arm depends on beside its seed. */
export function conditionsOf(arm: Arm, preset: Readonly<Record<string, unknown>>, model_sha256: string): Conditions {
  const { aim, evaluated, stages } = arm;
  return { model_sha256, options: { preset, aim, evaluated, stages, test_pairs: TEST_PAIRS } };
}
