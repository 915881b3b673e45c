/** A conversation as the page has it: while answers grow, and with the tokens that they are made of. Pure. */
import type { ChatSampling, ChatToken, Conversation, KeptAnswer } from '../../../main/api/contract/index.ts';

/** A message of the chat: nobody calls tools in it. */
export interface Said {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface ChatAnswer extends Omit<KeptAnswer, 'end' | 'probabilities'> {
  /** Null while it is being generated. */
  readonly end: KeptAnswer['end'] | null;
  /** Its tokens; null where the user has written in it. */
  readonly parts: readonly ChatToken[] | null;
  /** How often this model has answered this turn before. */
  readonly attempt: number;
}

export interface ChatTurn {
  readonly user: string;
  /** In the order of the models; null: it has not answered. */
  readonly answers: readonly (ChatAnswer | null)[];
}

export interface Chat extends Pick<Conversation, 'system'> {
  /** References, one a column; '': none is chosen. */
  readonly models: readonly string[];
  readonly sampling: ChatSampling;
  readonly turns: readonly ChatTurn[];
}

export const MAX_MODELS = 4;

export const usualSampling: ChatSampling = {
  temperature: 0.7,
  topP: 1,
  topK: 0,
  minP: 0,
  repetitionPenalty: 1,
  seed: 42,
  maxTokens: 512,
  stop: [],
};

export const emptyChat: Chat = { system: '', models: [''], sampling: usualSampling, turns: [] };

/** What a model is given: everything up to a turn of the user, with the answers of its own column. */
export function messagesOf({ system, turns }: Chat, column: number, turn = turns.length - 1): Said[] {
  const said = turns.slice(0, turn + 1).flatMap(({ user, answers }, i): Said[] => {
    const own = i < turn ? (answers[column] ?? null) : null;
    return [
      { role: 'user', content: user },
      ...(own === null ? [] : [{ role: 'assistant', content: own.content } as const]),
    ];
  });
  return [...(system.trim() === '' ? [] : [{ role: 'system', content: system } as const]), ...said];
}

/** The same with the answer to that turn, where there is one. */
export function answeredMessages(chat: Chat, column: number, turn = chat.turns.length - 1): Said[] {
  const answer = chat.turns[turn]?.answers[column] ?? null;
  const before = messagesOf(chat, column, turn);
  return answer === null ? before : [...before, { role: 'assistant', content: answer.content }];
}

/** With one more turn of the user, which nobody has answered. */
export function withTurn(chat: Chat, user: string): Chat {
  return { ...chat, turns: [...chat.turns, { user, answers: chat.models.map(() => null) }] };
}

/** With another text in a turn of the user, after which nothing has been said yet. */
export function withUserText(chat: Chat, turn: number, user: string): Chat {
  return withTurn({ ...chat, turns: chat.turns.slice(0, turn) }, user);
}

/** With another answer in one place. */
export function withAnswer(chat: Chat, turn: number, column: number, answer: ChatAnswer | null): Chat {
  const turns = chat.turns.map((one, i) =>
    i === turn ? { ...one, answers: one.answers.map((known, j) => (j === column ? answer : known)) } : one,
  );
  return { ...chat, turns };
}

/** With the user's words in an answer; what came after it stays. */
export function withEditedAnswer(chat: Chat, turn: number, column: number, content: string): Chat {
  const known = chat.turns[turn]?.answers[column] ?? null;
  if (known === null || known.content === content) return chat;
  return withAnswer(chat, turn, column, { ...known, content, end: 'edited', parts: null });
}

/** With one column's answers up to a turn in all columns: the models continue from the same conversation. */
export function withSharedAnswers(chat: Chat, turn: number, column: number): Chat {
  const turns = chat.turns.map((one, i) =>
    i > turn ? one : { ...one, answers: one.answers.map(() => one.answers[column] ?? null) },
  );
  return { ...chat, turns };
}

/** With one more column, which continues from the conversation of the last one. */
export function withColumn(chat: Chat): Chat {
  return {
    ...chat,
    models: [...chat.models, ''],
    turns: chat.turns.map((turn) => ({ ...turn, answers: [...turn.answers, turn.answers.at(-1) ?? null] })),
  };
}

export function withoutColumn(chat: Chat, column: number): Chat {
  const without = <T>(items: readonly T[]): T[] => items.filter((_, i) => i !== column);
  return {
    ...chat,
    models: without(chat.models),
    turns: chat.turns.map((turn) => ({ ...turn, answers: without(turn.answers) })),
  };
}

/** The user's words alone, for where they are kept; an answer that still grows ends where it is. */
export function toKept(chat: Chat): Conversation {
  return {
    ...chat,
    models: [...chat.models],
    turns: chat.turns.map(({ user, answers }) => ({ user, answers: answers.map(keptAnswer) })),
  };
}

function keptAnswer(answer: ChatAnswer | null): KeptAnswer | null {
  if (answer === null) return null;
  const { parts, attempt: _, end, ...rest } = answer;
  const kept = { ...rest, end: end ?? 'stopped' } as const;
  if (parts === null) return kept;
  let length = 0;
  const ends = parts.map(({ text }) => (length += text.length));
  return { ...kept, probabilities: { ends, logprobs: parts.map(({ logprob }) => logprob) } };
}

/** A kept conversation; the alternatives of its tokens aren't kept. */
export function fromKept({ turns, ...rest }: Conversation): Chat {
  return {
    ...rest,
    turns: turns.map(({ user, answers }) => ({
      user,
      answers: rest.models.map((_, column) => shownAnswer(answers[column] ?? null)),
    })),
  };
}

function shownAnswer(kept: KeptAnswer | null): ChatAnswer | null {
  if (kept === null) return null;
  const { probabilities, ...rest } = kept;
  const parts = probabilities?.ends.map((end, i): ChatToken => {
    const text = kept.content.slice(probabilities.ends[i - 1] ?? 0, end);
    return { token: text, text, logprob: probabilities.logprobs[i] ?? Number.NaN, top: [] };
  });
  return { ...rest, parts: parts ?? null, attempt: 0 };
}

/** A JSON line of messages for each column that has said something, as a file of training data has them. */
export function jsonLines(chat: Chat, nameOf: (ref: string) => string): string {
  const lines = chat.models.flatMap((ref, column) => {
    const messages = answeredMessages(chat, column);
    const said = chat.turns.map(({ answers }) => answers[column]?.model).find((name) => name !== undefined);
    return messages.some(({ role }) => role === 'assistant')
      ? [JSON.stringify({ messages, model: said ?? nameOf(ref) })]
      : [];
  });
  return lines.map((line) => `${line}\n`).join('');
}
