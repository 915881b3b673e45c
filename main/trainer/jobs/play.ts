/**
 * Job: one model completes one record of a folder's task as a run would have it do, streaming: turn by turn where the task
 * has an environment, then scored by its reward.
 */
import { UNFILTERED } from '../../model/sampler.ts';
import { withStops } from '../../model/stop-strings.ts';
import { type Completed, completedOf } from '../../samples/completion.ts';
import type { ExternalAccess } from '../../tasks/external/access.ts';
import { promptMessages } from '../../tasks/folder/environment.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import { openTask } from '../../tasks/index.ts';
import {
  type Answer,
  type Environment,
  type EnvironmentStep,
  type EnvironmentTurn,
  type RewardComponents,
  type Task,
  type TaskRecord,
  totalReward,
} from '../../tasks/task.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import { longestPrompt } from '../batching/prompts.ts';
import { openPolicy } from '../memory/open-policy.ts';
import type { ModelParts } from '../policy/model-parts.ts';
import { sampleEpisodes } from '../rollout/episodes.ts';
import { answerOf } from '../rollout/score.ts';
import { openAnswering } from './answering-model.ts';
import type { JobIo } from './job-io.ts';
import { sampler } from './sampler.ts';
import { openShownText, type ShownText } from './shown-text.ts';

export interface PlayJob extends BackendChoice {
  readonly kind: 'play';
  readonly model: ModelParts;
  /** The models that other processes ask the same. */
  readonly beside: readonly ModelParts[];
  readonly task: FolderSource;
  /** The entry of the thread that computes the reward; an environment runs there. */
  readonly rewardWorker: string;
  /** What the reward's components outside the sandbox need; null: it has none. */
  readonly rewardAccess: ExternalAccess | null;
  readonly record: TaskRecord;
  /** 0: always the most likely token. */
  readonly temperature: number;
  readonly seed: number;
  /** In tokens; null: the task's, or from the record's reference. */
  readonly maxCompletionLength: number | null;
}

export interface PlayResult extends Completed {
  readonly promptTokens: number;
  /** Generation with the environment's answers. */
  readonly seconds: number;
  /** The weighted sum of the components; NaN: the reward failed. */
  readonly reward: number;
  readonly components: RewardComponents;
  /** What no reward looks at, by its name; null: the task has none. */
  readonly check: { readonly name: string; readonly value: number } | null;
  /** Why there is no reward; null: there is one. */
  readonly failure: string | null;
}

/** Completes the record, and scores the completion. */
export async function runPlayJob(job: PlayJob, io: JobIo): Promise<PlayResult> {
  const task = openTask(job.task, job.rewardWorker, job.rewardAccess);
  try {
    // Even without completions it loads the reward, and finds that one can't run.
    task.score([]);
    return await play(job, task, io);
  } finally {
    task.close();
  }
}

async function play({ model: parts, ...job }: PlayJob, task: Task, io: JobIo): Promise<PlayResult> {
  const asked = { records: [job.record], maxCompletionLength: job.maxCompletionLength };
  const model = openAnswering(parts, task, asked, (its, maxLength) => openPolicy(its, maxLength, job.beside));
  try {
    const { tokenizer, records, maxNewTokens } = model;
    const shown = openShownText(io, withStops(tokenizer), model.eosTokenIds);
    const engine = sampler(model, shown.onRow);
    const environment = task.environment && withShownTurns(task.environment, job.record, shown, io);
    const began = performance.now();
    const [played] = await sampleEpisodes(
      { engine, task: { ...(task.tools && { tools: task.tools }), ...(environment && { environment }) }, tokenizer },
      records,
      {
        numGenerations: 1,
        maxNewTokens,
        temperature: job.temperature,
        ...UNFILTERED,
        coordinates: [job.seed],
        onToken: shown.onToken,
      },
    );
    const seconds = (performance.now() - began) / 1000;
    const answer = answerOf(records[0] ?? job, played, withStops(tokenizer).decode);
    return { ...completedOf(answer), promptTokens: longestPrompt(records), seconds, ...scored(task, answer) };
  } finally {
    model.dispose();
  }
}

function scored(task: Task, answer: Answer): Pick<PlayResult, 'components' | 'failure' | 'reward' | 'check'> {
  const { components = {}, failure = null } = task.score([answer])[0] ?? {};
  const { check } = task;
  return {
    components,
    failure,
    reward: totalReward(task, components),
    check: check === null ? null : { name: check.name, value: check.measure([answer])[0] ?? Number.NaN },
  };
}

/** The same environment; the conversation is sent after each of its answers. */
function withShownTurns(environment: Environment, record: TaskRecord, shown: ShownText, io: JobIo): Environment {
  const show = (turn: EnvironmentTurn | undefined, step: EnvironmentStep | string | undefined): void => {
    const said = turn?.messages.slice(promptMessages(record).length) ?? [];
    const { called, message = null } = typeof step === 'object' ? step : {};
    const own = called === undefined ? said : [...said.slice(0, -1), called.turn, ...called.results];
    const messages = [...own, ...(message === null ? [] : [{ role: 'user' as const, content: message }])];
    io.messages(messages, shown.endTurn());
  };
  const { step, stepLater } = environment;
  return {
    ...environment,
    step: (turns) => {
      const steps = step(turns);
      show(turns[0], steps[0]);
      return steps;
    },
    ...(stepLater && {
      stepLater: (turns) =>
        stepLater(turns).map(async (later, i) => {
          const given = await later;
          show(turns[i], given);
          return given;
        }),
    }),
  };
}
