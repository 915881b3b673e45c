import type { RewardCall } from '../../trainer/protocol/reward-calls.ts';
import type { LaunchTrainer } from '../trainer-process/channel.ts';

/** Paths of a host's bundled resources. Entry files compute these once: bundled code doesn't know its own location. */
export interface HostPaths {
  /** Starts the trainer process: a fork in plain Node, a utility process on the desktop. */
  readonly trainer: LaunchTrainer;
  /** The entry of the text worker thread, for `new Worker`. */
  readonly textWorker: string;
  /** The entry of the thread that computes the reward of a folder's task. */
  readonly rewardWorker: string;
  /** The entry of the thread that asks commands, servers and models for rewards. */
  readonly externalRewards: string;
  /** Starts the process that tries rewards while they are written. */
  readonly rewardProcess: LaunchTrainer<RewardCall>;
  /** The compiled WebAssembly kernels. */
  readonly kernels: string;
  /** Our part of the native addon's source, which its set-up compiles. */
  readonly addon: string;
  /** `resources/`: presets, bundled models and tasks. */
  readonly resources: string;
  /** The workspace's models, where one is open: adapters may name their base as the Hub does. */
  readonly models?: string;
  /** The built renderer. */
  readonly page: string;
  /** `datasets/`: the bundled source texts. */
  readonly datasets: string;
}
