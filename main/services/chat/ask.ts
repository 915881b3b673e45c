/** One model's answer in a chat, streamed token by token with its probabilities. */
import { BraidError } from '../../errors.ts';
import type { ChatMessage } from '../../samples/chat-message.ts';
import { withoutSystem } from '../../trainer/policy/model-parts.ts';
import type { AnswerRequest, AnswerToken } from '../../trainer/protocol/answers.ts';
import type { ModelPlaces } from '../models/list.ts';
import { type Lane, type LaneRequest, openLane } from '../playground/lane.ts';
import { memoryNeed, type StreamPlace } from '../playground/stream.ts';
import { type KeptModel, keepModel } from '../serving/kept-model.ts';
import { interrupted } from '../trainer-process/job.ts';
import { inBatches } from './batches.ts';
import type { ChatSampling } from './conversation.ts';
import type { LoadedModels, ModelNeed } from './loaded-models.ts';
import type { AnswerEnd, ChatNews, ChatToken } from './news.ts';

export interface ChatRequest extends LaneRequest {
  readonly messages: readonly ChatMessage[];
  readonly sampling: ChatSampling;
}

export type ChatPlace = ModelPlaces & StreamPlace & { readonly chatModels: LoadedModels<KeptModel> };

/** Alternatives of each token. */
const ALTERNATIVES = 5;

/** Asks a model, which is loaded where it isn't yet; invalid input throws before that. */
export async function* askModel(app: ChatPlace, request: ChatRequest, signal?: AbortSignal): AsyncGenerator<ChatNews> {
  const lane = openLane(app, request);
  const { parts, system } = withoutSystem(lane.model);
  const hasOwn = request.messages.some(({ role }) => role === 'system');
  const messages: readonly ChatMessage[] =
    system === null || hasOwn ? request.messages : [{ role: 'system', content: system }, ...request.messages];
  const need = needOf(app, { ...lane, model: parts });
  yield* inBatches((say) => {
    const job = app.jobs.start('generate', `Chat with ${lane.name}`, (context) => {
      const use = {
        signal: context.signal,
        onLoad: () => say({ kind: 'waiting', why: 'Loading the model …' }),
        onWait: (names: readonly string[]) => say({ kind: 'waiting', why: waitsFor(names) }),
      };
      return app.chatModels.use(need, use, async (model) => {
        say({ kind: 'waiting', why: 'Reading the conversation …' });
        const answer = answerRequest(messages, request.sampling);
        const end = await answerOf(model, answer, context.signal, (tokens) => say({ kind: 'tokens', tokens }));
        say({ kind: 'end', end: { ...end, askedAs: lane.askedAs } });
      });
    });
    const cancel = (): void => void app.jobs.cancel(job.id);
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    return { result: job.result, cancel };
  });
}

/** What a model takes, and how it is loaded. */
export function needOf(
  app: Pick<ChatPlace, 'paths'>,
  { name, model, beside, threads }: Omit<Lane, 'askedAs'>,
): ModelNeed<KeptModel> {
  const { bytes, freeBytes } = memoryNeed(app, model);
  const { kernels: kernelsFile, trainer: launch } = app.paths;
  const how = { model, beside, backend: 'auto', threads, kernelsFile } as const;
  return {
    model: JSON.stringify([model.base, model.adapter, model.tokenizer]),
    key: JSON.stringify(how),
    name,
    bytes,
    freeBytes,
    load: async (signal) => {
      const kept = await keepModel({ ...how, launch, signal });
      return { model: kept, stop: kept.stop, gone: kept.ended };
    },
  };
}

/** Why a model isn't loaded yet. */
export function waitsFor(names: readonly string[]): string {
  const who = new Intl.ListFormat('en').format(new Set(names));
  return `Waits for memory: it doesn't fit beside ${who}, and is loaded once that has answered`;
}

function answerRequest(messages: readonly ChatMessage[], sampling: ChatSampling): AnswerRequest {
  return { ...sampling, prompt: { kind: 'messages', messages }, n: 1, logprobs: ALTERNATIVES };
}

type Ended = Omit<AnswerEnd, 'askedAs'>;

/** The answer; where the context has less room than was asked for, as long as there is room. */
async function answerOf(
  model: KeptModel,
  request: AnswerRequest,
  signal: AbortSignal,
  onTokens: (tokens: readonly ChatToken[]) => void,
): Promise<Ended> {
  try {
    return await streamed(model, request, signal, onTokens);
  } catch (error) {
    if (!(error instanceof BraidError) || error.code !== 'CONTEXT_TOO_SHORT' || request.maxTokens === null) throw error;
    return streamed(model, { ...request, maxTokens: null }, signal, onTokens);
  }
}

async function streamed(
  model: KeptModel,
  request: AnswerRequest,
  signal: AbortSignal,
  onTokens: (tokens: readonly ChatToken[]) => void,
): Promise<Ended> {
  let [promptTokens, began] = [0, performance.now()];
  for await (const part of model.ask(request, signal)) {
    if (part.kind === 'begun') [promptTokens, began] = [part.promptTokens, performance.now()];
    if (part.kind === 'delta') onTokens(chatTokens(part.text, part.tokens));
    if (part.kind === 'ended') {
      const { finish, tokens } = part;
      return { finish, tokens, promptTokens, seconds: (performance.now() - began) / 1000, backend: model.backend };
    }
  }
  throw interrupted();
}

/**
 * Tokens with the part of the text that each of them adds. What isn't a token's own text, such as a character of several
 * tokens, is the last one's.
 */
export function chatTokens(text: string, tokens: readonly AnswerToken[]): readonly ChatToken[] {
  let rest = text;
  const pieces = tokens.map((token, i) => {
    const isLast = i === tokens.length - 1;
    const piece = isLast ? rest : rest.startsWith(token.text) ? token.text : '';
    rest = rest.slice(piece.length);
    return piece;
  });
  return tokens.map(({ text: token, logprob, top }, i) => ({
    token,
    text: pieces[i] ?? '',
    logprob: logprob ?? Number.NaN,
    top: top.map((other) => ({ token: other.text, logprob: other.logprob })),
  }));
}
