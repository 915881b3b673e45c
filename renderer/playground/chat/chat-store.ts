/**
 * The chat of this window: it continues while another screen is shown, and outlives a reload. Each column is asked by
 * itself, and one that fails doesn't affect the others. No React.
 */
import type { ChatNews, ChatToken, KeptConversation } from '../../../main/api/contract/index.ts';
import type { Client } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { type Observable, observable } from '../../components/observable.ts';
import {
  type Chat,
  type ChatAnswer,
  emptyChat,
  fromKept,
  MAX_MODELS,
  messagesOf,
  toKept,
  withAnswer,
  withColumn,
  withEditedAnswer,
  withoutColumn,
  withSharedAnswers,
  withTurn,
  withUserText,
} from './conversation.ts';

export interface Column {
  readonly state: 'idle' | 'asked' | 'answering' | 'failed';
  /** Why nothing comes yet. */
  readonly note: string | null;
  readonly error: unknown;
}

export interface ChatState {
  readonly chat: Chat;
  /** In the order of the models. */
  readonly columns: readonly Column[];
  /** Under which id it is kept; null: it isn't. */
  readonly keptId: number | null;
  /** Why it could not be kept as it has continued. */
  readonly keepError: unknown;
  /** The answers to the last turn that are finished, for who listens to the screen. */
  readonly spoken: readonly string[];
}

export interface ChatDeps {
  readonly ask: (input: AskInput, signal: AbortSignal) => Promise<AsyncIterable<ChatNews>>;
  readonly keep: Client['chat']['keep'];
  readonly nameOf: (ref: string) => string;
  /** Calls before the next picture. */
  readonly beforePaint: (work: () => void) => void;
  /** Called with each change of what is said. */
  readonly onChange: (state: ChatState) => void;
}

type AskInput = Parameters<Client['chat']['ask']>[0];

const idle: Column = { state: 'idle', note: null, error: null };

export const freshState = (chat: Chat = emptyChat, keptId: number | null = null): ChatState => ({
  chat,
  columns: chat.models.map(() => idle),
  keptId,
  keepError: null,
  spoken: [],
});

export type ChatStore = ReturnType<typeof openChatStore>;

export function openChatStore(deps: ChatDeps, first: ChatState = freshState()) {
  const state: Observable<ChatState> = observable(first);
  let asking: (AbortController | null)[] = first.columns.map(() => null);
  const busy = (): boolean => asking.some((one) => one !== null);

  function change(part: Partial<ChatState>): void {
    state.set({ ...state.get(), ...part });
  }
  /** What is said has changed: it is also kept so, once nobody speaks. */
  function changeChat(chat: Chat, part: Partial<ChatState> = {}): void {
    change({ chat, ...part });
    settle();
  }
  function settle(): void {
    deps.onChange(state.get());
    if (busy()) return;
    const { keptId, chat } = state.get();
    if (keptId !== null && chat.turns.length > 0) keep(keptId).catch((keepError: unknown) => change({ keepError }));
  }
  async function keep(id: number | null): Promise<void> {
    const kept = await deps.keep({ id, conversation: toKept(state.get().chat) }).catch((error: unknown) => {
      // It was deleted elsewhere: keeping it again makes another one.
      if (failureOf(error).code === 'CONVERSATION_UNKNOWN') change({ keptId: null });
      throw error;
    });
    change({ keptId: kept.id, keepError: null });
    deps.onChange(state.get());
  }
  function setColumn(column: number, next: Column): void {
    change({ columns: state.get().columns.map((known, i) => (i === column ? next : known)) });
  }
  function stop(): void {
    for (const one of asking) one?.abort();
  }

  /** Asks the model of a column for its answer to the last turn. */
  async function askColumn(column: number, attempt: number): Promise<void> {
    const { chat } = state.get();
    const [model, turn] = [chat.models[column] ?? '', chat.turns.length - 1];
    if (model === '' || turn < 0) return;
    const controller = new AbortController();
    asking[column] = controller;
    const { signal } = controller;
    /** Whether the answer still has a place. */
    const isCurrent = (): boolean => asking[column] === controller;
    let answer: ChatAnswer = {
      model: deps.nameOf(model),
      content: '',
      end: null,
      tokens: 0,
      seconds: 0,
      parts: [],
      attempt,
    };
    let waiting: ChatToken[] = [];
    const began = performance.now();
    const show = (end: Partial<ChatAnswer> = {}): void => {
      if (!isCurrent()) return;
      answer = { ...grown(answer, waiting), ...end };
      waiting = [];
      change({ chat: withAnswer(state.get().chat, turn, column, answer) });
    };
    const seconds = (): number => (performance.now() - began) / 1000;
    const before = chat.turns[turn]?.answers[column] ?? null;
    change({ chat: withAnswer(chat, turn, column, null) });
    setColumn(column, { state: 'asked', note: null, error: null });
    try {
      for await (const news of await deps.ask(askInput(chat, column, attempt, messagesOf(chat, column)), signal)) {
        if (!isCurrent()) return;
        if (news.kind === 'waiting') setColumn(column, { state: 'asked', note: news.why, error: null });
        if (news.kind === 'tokens') {
          if (answer.tokens + waiting.length === 0) setColumn(column, { state: 'answering', note: null, error: null });
          if (waiting.length === 0) deps.beforePaint(() => waiting.length > 0 && show());
          waiting.push(...news.tokens);
        }
        if (news.kind === 'end') {
          const { finish, ...end } = news.end;
          show({ end: finish, tokens: end.tokens, seconds: end.seconds });
        }
      }
      if (answer.end === null) show({ end: 'stopped', seconds: seconds() });
      finish(column, controller, idle);
    } catch (error) {
      if (answer.tokens + waiting.length > 0) show({ end: 'stopped', seconds: seconds() });
      else if (isCurrent()) change({ chat: withAnswer(state.get().chat, turn, column, before) });
      finish(column, controller, signal.aborted ? idle : { state: 'failed', note: null, error });
    }
  }

  function finish(column: number, controller: AbortController, next: Column): void {
    const place = asking.indexOf(controller);
    if (place === -1) return;
    asking[place] = null;
    setColumn(column, next);
    const { chat } = state.get();
    const answer = chat.turns.at(-1)?.answers[column] ?? null;
    if (answer !== null) change({ spoken: [...state.get().spoken, `${answer.model}: ${answer.content}`] });
    settle();
  }

  function askAll(): void {
    change({ spoken: [] });
    for (const column of state.get().chat.models.keys()) void askColumn(column, 0);
    settle();
  }

  return {
    get: state.get,
    subscribe: state.subscribe,
    stop,
    /** Says something to all models; nothing while one of them answers. */
    send(text: string): void {
      if (busy() || text.trim() === '') return;
      change({ chat: withTurn(state.get().chat, text) });
      askAll();
    },
    /** Asks one model for another answer to the last turn. */
    regenerate(column: number): void {
      if (asking[column] != null) return;
      const known = state.get().chat.turns.at(-1)?.answers[column];
      void askColumn(column, known == null ? 0 : known.attempt + 1);
    },
    /** Changes what the user has said; the turns after it are dropped, and all models answer it. */
    editUser(turn: number, text: string): void {
      stop();
      asking = asking.map(() => null);
      change({ chat: withUserText(state.get().chat, turn, text) });
      askAll();
    },
    editAnswer: (turn: number, column: number, text: string): void =>
      changeChat(withEditedAnswer(state.get().chat, turn, column, text)),
    shareAnswers: (turn: number, column: number): void => changeChat(withSharedAnswers(state.get().chat, turn, column)),
    set: (part: Partial<Pick<Chat, 'system' | 'sampling' | 'models'>>): void =>
      changeChat({ ...state.get().chat, ...part }),
    /** Brings a model into the chat: into its place where nothing has been said, otherwise beside the others. */
    join(model: string): void {
      const { chat } = state.get();
      if (busy() || chat.models.includes(model)) return;
      const only = chat.turns.length === 0;
      const joined = only ? { ...chat, models: [model] } : withModel(chat, model);
      asking = joined.models.map(() => null);
      changeChat(joined, { columns: joined.models.map(() => idle) });
    },
    addColumn(): void {
      if (busy()) return;
      asking.push(null);
      changeChat(withColumn(state.get().chat), { columns: [...state.get().columns, idle] });
    },
    removeColumn(column: number): void {
      if (busy()) return;
      asking.splice(column, 1);
      const columns = state.get().columns.filter((_, i) => i !== column);
      changeChat(withoutColumn(state.get().chat, column), { columns });
    },
    keep: (): Promise<void> => keep(state.get().keptId),
    /** It is no longer kept: deleted. */
    unkept(id: number): void {
      if (state.get().keptId === id) change({ keptId: null, keepError: null });
      deps.onChange(state.get());
    },
    /** An empty conversation with the same models and settings. */
    clear(): void {
      stop();
      asking = asking.map(() => null);
      change(freshState({ ...state.get().chat, turns: [] }));
      deps.onChange(state.get());
    },
    open({ id, conversation }: KeptConversation): void {
      stop();
      const next = freshState(fromKept(conversation), id);
      asking = next.columns.map(() => null);
      change(next);
      deps.onChange(state.get());
    },
  } as const;
}

/** In another column, or in the last one's place. */
function withModel(chat: Chat, model: string): Chat {
  const wide = chat.models.length < MAX_MODELS ? withColumn(chat) : chat;
  return { ...wide, models: [...wide.models.slice(0, -1), model] };
}

function grown(answer: ChatAnswer, more: readonly ChatToken[]): ChatAnswer {
  if (more.length === 0) return answer;
  return {
    ...answer,
    content: answer.content + more.map(({ text }) => text).join(''),
    tokens: answer.tokens + more.length,
    parts: [...(answer.parts ?? []), ...more],
  };
}

/** Two columns with the same model draw different tokens; each further attempt too. */
function askInput(
  { models, sampling }: Chat,
  column: number,
  attempt: number,
  messages: AskInput['messages'],
): AskInput {
  const model = models[column] ?? '';
  const twin = models.slice(0, column).filter((ref) => ref === model).length;
  const seed = (sampling.seed + twin + models.length * attempt) % 2 ** 32;
  const beside = models.filter((ref, i) => i !== column && ref !== '');
  return { model, beside, messages, sampling: { ...sampling, seed } };
}
