/**
 * Completions of tasks with an environment: the model and the environment take turns. The environment answers each
 * completion when its turn has ended, and its words are read by the model as a message of the user (without a chat
 * template: as plain text). They are part of the completion but not the model's: `toolMask` keeps them out of the loss and
 * out of every metric (TRL 1.13: tool_mask).
 */
import { encodeAnswer } from '../../model/answer-tokens.ts';
import { encodeOpening } from '../../model/opening.ts';
import { withStops } from '../../model/stop-strings.ts';
import type { Tokenizer } from '../../model/tokenizer.ts';
import { keepingMarks } from '../../model/tool-calls/flow.ts';
import { readToolCalls } from '../../model/tool-calls/read.ts';
import type { EndedTurn, TurnTaking } from '../../model/turns.ts';
import { type WrittenCall, withoutOutcomes } from '../../samples/chat-message.ts';
import type { Episode, Played } from '../../samples/completion.ts';
import { promptMessages, withRewards } from '../../tasks/folder/environment.ts';
import type { Environment, EnvironmentStep, EnvironmentTurn, Task, TaskRecord } from '../../tasks/task.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import type { Engine, Sampling } from '../engine/engine.ts';

/** Who samples, and what for. */
export interface EpisodeContext {
  readonly engine: Pick<Engine, 'sample'>;
  readonly task: Pick<Task, 'environment' | 'tools'>;
  readonly tokenizer: Tokenizer;
}

/** Samples completions of every prompt, through the task's environment if it has one. */
export async function sampleEpisodes(
  { engine, task, tokenizer }: EpisodeContext,
  prompts: readonly TokenRecord[],
  sampling: Omit<Sampling, 'turns'>,
): Promise<readonly Played[]> {
  const ids = prompts.map(({ promptIds }) => promptIds);
  const { environment } = task;
  if (environment === undefined) return engine.sample(ids, sampling);
  const play = openPlay(environment, task.tools, withStops(tokenizer), prompts, sampling);
  try {
    const completions = await engine.sample(ids, { ...sampling, turns: play.turns });
    return completions.map((completion, row) => ({ ...completion, episode: play.episode(row) }));
  } finally {
    environment.release?.();
  }
}

interface Progress extends Episode {
  readonly state: unknown;
}

/** Conversations of a batch, one a completion. */
function openPlay(
  environment: Environment,
  toolsOf: Task['tools'],
  tokenizer: Tokenizer,
  prompts: readonly TokenRecord[],
  { numGenerations, maxNewTokens }: Pick<Sampling, 'numGenerations' | 'maxNewTokens'>,
): { readonly turns: TurnTaking; episode(row: number): Episode } {
  const before: Progress = { messages: [], rewards: {}, failure: null, state: null };
  const all = new Map<number, Progress>();
  const opens = environment.opens === true;
  const pastOf = ({ completion, turn }: EndedTurn): Progress =>
    turn === (opens ? -1 : 0) ? before : (all.get(completion) ?? before);

  const { decode: decodeCalls } = keepingMarks(tokenizer);
  /** A turn's words and the calls in it. */
  const said = (record: TaskRecord, ids: readonly number[]) => {
    if (environment.hasTools !== true) return { words: tokenizer.decode(ids) };
    const { content, calls, problem } = readToolCalls(decodeCalls(ids), toolsOf?.(record) ?? []);
    const read: readonly WrittenCall[] = calls.map((call) => ({ call }));
    // What can't be read as calls is shown as it is.
    return { words: content, calls: problem === null ? read : [{ fault: problem }] };
  };

  const asked = (ended: EndedTurn): EnvironmentTurn => {
    const { completion, turn, ids, terminated } = ended;
    const record = prompts[Math.floor(completion / numGenerations)]?.record;
    if (record === undefined)
      throw new Error(`Expected completion ${completion} to belong to one of ${prompts.length}`);
    const { messages, state } = pastOf(ended);
    if (turn < 0) return { record, messages: promptMessages(record), turn: 0, finish: 'stop', state };
    const { words, ...calls } = said(record, ids);
    return {
      record,
      messages: [...promptMessages(record), ...withoutOutcomes(messages), { role: 'assistant', content: words }],
      ...calls,
      turn: turn + 1,
      finish: terminated ? 'stop' : 'length',
      state,
    };
  };

  /** The environment's first words. One that can't begin has failed, and its first turn ends it. */
  const begun = (
    { completion, room }: EndedTurn,
    record: TaskRecord,
    step: EnvironmentStep | string | undefined,
  ): readonly number[] => {
    const { message, state = null } = typeof step === 'object' ? step : {};
    const content = message ?? '';
    const { promptIds = [] } = prompts[Math.floor(completion / numGenerations)] ?? {};
    const prompt = { messages: promptMessages(record), promptIds };
    const tokens = encodeOpening(tokenizer, prompt, content);
    const long = `the environment begins with ${tokens.length} tokens, and the completion may have ${room}`;
    const failure = typeof step === 'object' ? (tokens.length < room ? null : long) : (step ?? 'no answer');
    all.set(completion, { ...before, messages: failure === null ? [{ role: 'user', content }] : [], failure, state });
    return failure === null ? tokens : encodeOpening(tokenizer, prompt, '');
  };

  /** Adds what was said and answered to the conversation; the answer's tokens, or null where it has ended. */
  const heard = (
    ended: EndedTurn,
    { messages: said, record, calls = [] }: EnvironmentTurn,
    step: EnvironmentStep | string | undefined,
  ): readonly number[] | null => {
    const { completion, turn, ids, terminated, byString } = ended;
    if (turn < 0) return begun(ended, record, step);
    const past = pastOf(ended);
    const own = said.at(-1) ?? { role: 'assistant' as const, content: '' };
    if (step === undefined || typeof step === 'string') {
      const tool_calls = calls.flatMap((one) => ('call' in one ? [one.call] : []));
      const unanswered = { ...own, ...(tool_calls.length > 0 && { tool_calls }) };
      all.set(completion, { ...past, messages: [...past.messages, unanswered], failure: step ?? 'no answer' });
      return null;
    }
    const { message, rewards, state, called } = step;
    const answered = called?.results ?? (message === null ? [] : [{ role: 'user' as const, content: message }]);
    const outcome = { ...(rewards !== null && { rewards }), done: step.done };
    const messages = [...past.messages, { ...(called?.turn ?? own), outcome }, ...answered];
    all.set(completion, { messages, rewards: withRewards(past.rewards, rewards), failure: null, state });
    if (step.done || answered.length === 0 || turn + 1 === environment.maxTurns) return null;
    return encodeAnswer(tokenizer, answered, terminated && byString !== true ? (ids.at(-1) ?? null) : null);
  };

  const answer = (ended: readonly EndedTurn[]): ReturnType<TurnTaking['answer']> => {
    const turns = ended.map(asked);
    const isLost = ended.map((one) => pastOf(one).failure !== null);
    const living = turns.filter((_, i) => !isLost[i]);
    const steps = (environment.stepLater?.(living) ?? environment.step(living))[Symbol.iterator]();
    return ended.map((one, i) => {
      if (isLost[i]) return null;
      const [turn, step] = [turns[i] as EnvironmentTurn, steps.next().value];
      return step instanceof Promise ? step.then((given) => heard(one, turn, given)) : heard(one, turn, step);
    });
  };

  return {
    turns: {
      maxTurnTokens: Math.min(environment.maxTurnTokens ?? maxNewTokens, maxNewTokens),
      later: environment.stepLater !== undefined,
      ...(opens && { opens }),
      answer,
    },
    episode: (row) => {
      const { messages, rewards, failure } = all.get(row) ?? before;
      return { messages, rewards, failure };
    },
  };
}
