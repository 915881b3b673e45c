/** Trying a model on a record of a task with files: its completion, or its conversation with the environment, and the reward. */
import type { ChatMessage } from '../../samples/chat-message.ts';
import { type Written, writtenOf } from '../../samples/completion.ts';
import { ownText, promptMessages } from '../../tasks/folder/environment.ts';
import { taskFacts } from '../../tasks/index.ts';
import type { RewardComponents, TaskFacts, TaskShow } from '../../tasks/task.ts';
import { alignCompletion, type WordAlignment } from '../../text/word-alignment.ts';
import type { PlayJob } from '../../trainer/jobs/play.ts';
import type { ModelPlaces } from '../models/list.ts';
import { type RecordPlace, type RecordsChoice, recordAt } from '../reward-trials/draft-records.ts';
import { type RewardTrust, rewardAccess } from '../tasks/reward-access.ts';
import { requireSource } from '../tasks/task-list.ts';
import type { TextJobOptions } from '../trainer-process/job.ts';
import { type LaneRequest, openLane } from './lane.ts';
import type { AnswerEnd } from './playground.ts';
import { type StreamPlace, streamJob } from './stream.ts';

export interface PlayRecordRequest {
  /** The name of a task with files. */
  readonly task: string;
  readonly from: RecordsChoice;
  /** Which record of the file, from 0. */
  readonly index: number;
}

/** A record as the models are given it. */
export interface PlayRecord {
  readonly id: string;
  readonly messages: readonly ChatMessage[];
  /** Empty: the task has none. */
  readonly reference: string;
  /** How many records the file has. */
  readonly total: number;
  readonly show: TaskShow;
  /** Turns that the model has; null: the task has no environment. */
  readonly maxTurns: number | null;
}

export interface PlayRequest extends PlayRecordRequest, LaneRequest {
  readonly temperature: number;
  readonly seed: number;
  /** In tokens; undefined: the task's, or the reference's length plus a margin. */
  readonly maxTokens?: number | undefined;
}

/** The completion so far. */
export interface PlayedRecord extends Written {
  readonly kind: 'record';
  /** Against the reference, where the task is shown so; null while it is being generated. */
  readonly alignment: WordAlignment | null;
  readonly show: TaskShow;
  readonly tokens: number;
  /** Null while it is being generated. */
  readonly end: PlayedEnd | null;
}

export interface PlayedEnd extends AnswerEnd {
  /** Null: the reward failed. */
  readonly reward: number | null;
  readonly components: RewardComponents;
  readonly check: { readonly name: string; readonly value: number } | null;
  readonly failure: string | null;
}

/** The record, or why it isn't one of this task. */
export async function playRecord(place: RecordPlace, { task, from, index }: PlayRecordRequest): Promise<PlayRecord> {
  const source = requireSource(task, { workspace: place.store.folder, paths: place.paths });
  const { record, reference, total } = await recordAt(place, source, from, index);
  const { show, maxTurns = null } = taskFacts(source);
  return { id: record.id, messages: promptMessages(record), reference, total, show, maxTurns };
}

type Place = ModelPlaces & StreamPlace & RecordPlace & RewardTrust;

/**
 * A model's completion of a record, emitted repeatedly as it is generated; invalid input, and a reward that hasn't been
 * allowed what it reaches, throw before a process is started.
 */
export async function* play(app: Place, request: PlayRequest, signal?: AbortSignal): AsyncGenerator<PlayedRecord> {
  const { paths } = app;
  const places = { workspace: app.store.folder, paths };
  const source = requireSource(request.task, places);
  const { record, reference } = await recordAt(app, source, request.from, request.index);
  const facts = taskFacts(source);
  const { name, model, beside, askedAs, threads } = openLane(app, request);
  const job: PlayJob = {
    kind: 'play',
    model,
    beside,
    task: source,
    record,
    temperature: request.temperature,
    seed: request.seed,
    maxCompletionLength: request.maxTokens ?? null,
    backend: 'auto',
    threads,
    kernelsFile: paths.kernels,
    rewardWorker: paths.rewardWorker,
    rewardAccess: rewardAccess(source, places, app),
  };
  const { value, backend } = yield* streamJob<PlayJob, PlayedRecord>(
    app,
    job,
    name,
    (show) => followTurns(facts, show),
    signal,
  );
  const { tokens, finish, promptTokens, seconds, reward: given, components, check, failure } = value;
  const reward = Number.isFinite(given) ? given : null;
  const isAligned = facts.show === 'aligned' && reference !== '' && value.messages === undefined;
  yield {
    kind: 'record',
    show: facts.show,
    ...writtenOf(value),
    tokens,
    alignment: isAligned ? alignCompletion(reference, value.completion, source.name) : null,
    end: {
      terminated: finish === 'stop',
      promptTokens,
      seconds,
      backend,
      askedAs,
      reward,
      components,
      check,
      failure,
    },
  };
}

/** What the process reports, as the completion so far. */
function followTurns(
  { show: shown, maxTurns }: Pick<TaskFacts, 'show' | 'maxTurns'>,
  show: (state: PlayedRecord) => void,
): Pick<TextJobOptions, 'onText' | 'onMessages'> {
  let said: readonly ChatMessage[] = [];
  const soFar = { kind: 'record', show: shown, alignment: null, end: null } as const;
  return {
    onText: (completion, tokens) => {
      const turn: ChatMessage = { role: 'assistant', content: completion };
      show({ ...soFar, completion, tokens, ...(maxTurns !== undefined && { messages: [...said, turn] }) });
    },
    onMessages: (messages, tokens) => {
      said = messages;
      show({ ...soFar, completion: ownText(messages), tokens, messages });
    },
  };
}
