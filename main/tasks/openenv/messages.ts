/** What the trainer's thread and the thread that plays OpenEnv environments say to each other. */
import type { CommandFiles, ExternalAccess } from '../external/access.ts';
import type { ReplyLine } from '../sync-thread.ts';
import type { EnvironmentStep, EnvironmentTurn, TaskRecord } from '../task.ts';
import type { OpenEnvSpec } from './spec.ts';

/** A server, and the component of the reward that it gives. */
export interface Served {
  readonly server: OpenEnvSpec;
  /** Turns of the model in an episode: after the last one its session ends. */
  readonly maxTurns: number;
  readonly component: string;
  readonly files: CommandFiles;
}

export interface ServedProgram extends Served {
  readonly access: Pick<ExternalAccess, 'keys'>;
}

export interface ServedWorkerData extends ReplyLine {
  readonly served: ServedProgram;
}

export type ServedRequest =
  /** Each is answered by itself, as soon as the server has answered. */
  | { readonly kind: 'step'; readonly turns: readonly EnvironmentTurn[]; readonly first: number }
  | { readonly kind: 'release' }
  | { readonly kind: 'examine'; readonly record: TaskRecord }
  /** The beginnings of episodes by this template, each reset with its arguments. */
  | { readonly kind: 'starts'; readonly message: string; readonly resets: readonly Readonly<Record<string, unknown>>[] }
  | { readonly kind: 'describe' }
  | { readonly kind: 'close' };

/** What an environment says of itself. */
export interface Description {
  readonly name: string | null;
  readonly description: string | null;
  /** JSON schemas; null: it has none. */
  readonly action: Readonly<Record<string, unknown>> | null;
  readonly observation: Readonly<Record<string, unknown>> | null;
}

export type ServedReply =
  | { readonly kind: 'alive' }
  | { readonly kind: 'ready' }
  /** `place`: among the turns that were asked, from `first` on. `changed`: the same actions have had another result before. */
  | {
      readonly kind: 'stepped';
      readonly place: number;
      readonly step: EnvironmentStep | string;
      readonly changed: boolean;
    }
  | { readonly kind: 'examined'; readonly faults: readonly string[]; readonly notes: readonly string[] }
  /** A message each, or why there is none. */
  | {
      readonly kind: 'started';
      readonly messages: readonly ({ readonly text: string } | { readonly failure: string })[];
    }
  | { readonly kind: 'described'; readonly description: Description | string }
  | { readonly kind: 'closed' };

/** What the server gave to a turn, as the next turn needs it: with the actions a lost conversation can be played again. */
export interface ServedState {
  readonly session: number;
  readonly actions: readonly unknown[];
}
