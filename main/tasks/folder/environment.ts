/**
 * The environment of a folder's task: `step` of reward.ts answers the model's turns, in the sandbox. It has no memory of
 * its own, so that a conversation can be played again: what it wants to know at the next turn is the state that it gives.
 */
import { askedOf, type ChatMessage, shownText } from '../../samples/chat-message.ts';
import type { Scored, Scorer } from '../sandbox/scorer.ts';
import type { Answer, Environment, EnvironmentStep, EnvironmentTurn, RewardComponents, TaskRecord } from '../task.ts';
import type { TaskDefinition } from './definition.ts';

/** Opens it on the task's own thread. */
export function openEnvironment(
  { max_turns, max_turn_tokens }: NonNullable<TaskDefinition['environment']>,
  { step }: Pick<Scorer, 'step'>,
): Environment {
  return {
    maxTurns: max_turns,
    maxTurnTokens: max_turn_tokens ?? null,
    step: (turns) =>
      step(turns.map(asSandboxSees)).map((stepped) => (stepped.kind === 'step' ? stepped.step : stepped.reason)),
  };
}

/** A record's messages are in the conversation. */
function asSandboxSees({ record: { messages: _, ...record }, ...turn }: EnvironmentTurn): EnvironmentTurn {
  return { ...turn, record };
}

/** What the model was given, as messages. */
export function promptMessages({ prompt, messages }: Pick<TaskRecord, 'prompt' | 'messages'>): readonly ChatMessage[] {
  return messages === undefined ? [{ role: 'user', content: prompt }] : askedOf(messages);
}

/** The whole conversation: what the model was given, by default what the record says, and what followed. */
export function conversationOf(
  record: Pick<TaskRecord, 'prompt' | 'messages'>,
  { completion, messages, asked = promptMessages(record) }: Pick<Answer, 'completion' | 'messages' | 'asked'>,
): readonly ChatMessage[] {
  return [...asked, ...(messages ?? [{ role: 'assistant' as const, content: completion }])];
}

/** The model's turns of a conversation. */
function turnsOf(messages: readonly ChatMessage[]): string[] {
  return messages.flatMap((message) => (message.role === 'assistant' ? [shownText(message)] : []));
}

/** What the model wrote of a conversation, its turns below each other. */
export function ownText(messages: readonly ChatMessage[]): string {
  return turnsOf(messages).join('\n');
}

/** The rewards that steps have given so far, and one more's. */
export function withRewards(sum: RewardComponents, more: RewardComponents | null): RewardComponents {
  const total: Record<string, number> = { ...sum };
  for (const [name, value] of Object.entries(more ?? {})) total[name] = rewardIn(total, name) + value;
  return total;
}

/** A component that no step gave is 0; it may be called `constructor`, which every object has. */
function rewardIn(rewards: RewardComponents, name: string): number {
  return Object.hasOwn(rewards, name) ? (rewards[name] ?? 0) : 0;
}

/** A conversation in progress. */
interface Played {
  readonly turns: readonly string[];
  readonly messages: readonly ChatMessage[];
  readonly rewards: RewardComponents;
  readonly state: unknown;
  readonly failure: string | null;
  readonly ended: boolean;
}

/**
 * The components of completions, in order. What the environment gave while they were sampled counts; a completion without
 * that, such as a stored one, is played again: the environment answers the model's turns as they were.
 */
export function replay(
  environment: Environment,
  components: readonly string[],
  answers: readonly Answer[],
): readonly Scored[] {
  const played = playAgain(
    environment,
    answers.filter(({ outcome }) => outcome === undefined),
  );
  let next = 0;
  return answers.map(({ outcome }) => {
    const { failure, components: rewards } = outcome ?? scoreOf(played[next++]);
    if (failure !== null) return { kind: 'failure', reason: failure };
    return { kind: 'numbers', numbers: components.map((name) => rewardIn(rewards, name)) };
  });
}

function scoreOf(played: Played | undefined) {
  return { failure: played?.failure ?? null, components: played?.rewards ?? {} };
}

function playAgain(environment: Environment, answers: readonly Answer[]): readonly Played[] {
  const all = answers.map(
    ({ record, completion, messages }): Played => ({
      // A completion without messages, such as one of a file, is one turn.
      turns: messages === undefined ? [completion] : turnsOf(messages),
      messages: promptMessages(record),
      rewards: {},
      state: null,
      failure: null,
      ended: false,
    }),
  );
  for (let turn = 0; turn < environment.maxTurns; turn++) {
    const active = [...all.keys()].filter((i) => !all[i]?.ended && all[i]?.turns[turn] !== undefined);
    if (active.length === 0) break;
    const asked = active.map((i): EnvironmentTurn => {
      const { turns = [], messages = [], state = null } = all[i] ?? {};
      const answer = answers[i] as Answer;
      const isLast = turn + 1 === turns.length;
      const said = { role: 'assistant' as const, content: turns[turn] ?? '' };
      return {
        record: answer.record,
        messages: [...messages, said],
        turn: turn + 1,
        state,
        finish: isLast ? answer.finish : 'stop',
      };
    });
    const steps = environment.step(asked);
    active.forEach((i, place) => {
      all[i] = after(all[i] as Played, asked[place], steps[place]);
    });
  }
  environment.release?.();
  return all;
}

function after(played: Played, asked: EnvironmentTurn | undefined, step: EnvironmentStep | string | undefined): Played {
  if (typeof step === 'string') return { ...played, failure: step, ended: true };
  const { message = null, rewards = null, done = true, state = null } = step ?? {};
  const answer: ChatMessage[] = message === null ? [] : [{ role: 'user', content: message }];
  return {
    ...played,
    messages: [...(asked?.messages ?? []), ...answer],
    rewards: withRewards(played.rewards, rewards),
    state,
    ended: done,
  };
}
