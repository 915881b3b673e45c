/** One request answered: whole, or as a stream of chunks. */
import { randomBytes } from 'node:crypto';
import type { AnswerToken } from '../../../trainer/protocol/answers.ts';
import type { AnswerPart, KeptModel } from '../kept-model.ts';
import {
  type Choice,
  charactersBegun,
  chunkOf,
  type ReplyHead,
  type ReplyKind,
  usageChunk,
  wholeReply,
} from './replies.ts';
import type { ParsedRequest } from './requests.ts';

/** A part of an answer, and which choice of the reply the first completion of its prompt is. */
interface Placed {
  readonly first: number;
  readonly part: AnswerPart;
}

interface Counted {
  promptTokens: number;
  completionTokens: number;
}

type Asked = Pick<KeptModel, 'ask'>;

function headFor(kind: ReplyKind, model: string): ReplyHead {
  const id = `${kind === 'chat' ? 'chatcmpl' : 'cmpl'}-${randomBytes(16).toString('hex')}`;
  return { id, created: Math.floor(Date.now() / 1000), model };
}

/** The whole answer. */
export async function answerWhole(
  kind: ReplyKind,
  kept: Asked,
  request: ParsedRequest,
  signal: AbortSignal,
): Promise<object> {
  const choices = new Map<number, { text: string; tokens: AnswerToken[]; end: Choice['end'] }>();
  const usage: Counted = { promptTokens: 0, completionTokens: 0 };
  const choiceAt = (index: number) => {
    const found = choices.get(index) ?? { text: '', tokens: [], end: null };
    choices.set(index, found);
    return found;
  };
  for await (const { first, part } of askAll(kept, request, signal)) {
    count(usage, part);
    if (part.kind === 'begun') {
      const { prompt } = part;
      if (prompt === undefined) continue;
      for (let i = 0; i < request.asked.n; i++) {
        const choice = choiceAt(first + i);
        choice.text += prompt.text;
        choice.tokens.push(...prompt.tokens);
      }
    } else {
      const choice = choiceAt(first + part.choice);
      if (part.kind === 'ended') choice.end = part;
      else {
        choice.text += part.text;
        choice.tokens.push(...part.tokens);
      }
    }
  }
  const all = [...choices].sort(([a], [b]) => a - b).map(([index, choice]) => ({ index, ...choice }));
  return wholeReply(kind, headFor(kind, request.model), all, usage, request.asked.logprobs !== null);
}

/** The answer as chunks. */
export async function* answerChunks(
  kind: ReplyKind,
  kept: Asked,
  request: ParsedRequest,
  signal: AbortSignal,
): AsyncGenerator<object> {
  const head = headFor(kind, request.model);
  const logprobs = request.asked.logprobs !== null;
  const offsets = new Map<number, number>();
  const usage: Counted = { promptTokens: 0, completionTokens: 0 };
  const chunk = (index: number, part: Partial<Choice>): object => {
    const choice: Choice = { index, text: '', tokens: [], end: null, ...part };
    const offset = offsets.get(index);
    offsets.set(
      index,
      choice.tokens.reduce((sum, token) => sum + charactersBegun(token), offset ?? 0),
    );
    return chunkOf(kind, head, choice, { offset: offset ?? 0, isFirst: offset === undefined, logprobs });
  };
  for await (const { first, part } of askAll(kept, request, signal)) {
    count(usage, part);
    if (part.kind === 'delta') yield chunk(first + part.choice, part);
    else if (part.kind === 'ended') yield chunk(first + part.choice, { end: part });
    // A chat's first chunk has the role only: OpenAI's Node client counts log-probabilities in it twice.
    else if (kind === 'chat' || part.prompt !== undefined)
      for (let i = 0; i < request.asked.n; i++) yield chunk(first + i, part.prompt ?? {});
  }
  if (request.usage) yield usageChunk(kind, head, usage);
}

function count(usage: Counted, part: AnswerPart): void {
  if (part.kind === 'begun') usage.promptTokens += part.promptTokens;
  if (part.kind === 'ended') usage.completionTokens += part.tokens;
}

/** The answers to all prompts as they come; the others are cancelled when one fails. */
async function* askAll(kept: Asked, { prompts, asked }: ParsedRequest, signal: AbortSignal): AsyncGenerator<Placed> {
  const end = new AbortController();
  const all = AbortSignal.any([signal, end.signal]);
  const streams = prompts.map((prompt, i) => ({ first: i * asked.n, stream: kept.ask({ ...asked, prompt }, all) }));
  const next = ({ first, stream }: (typeof streams)[number]) =>
    stream.next().then(({ done, value }) => ({ first, part: done === true ? null : (value as AnswerPart) }));
  const waiting = new Map(streams.map((one) => [one.first, next(one)]));
  try {
    while (waiting.size > 0) {
      const { first, part } = await Promise.race(waiting.values());
      const own = streams.find((one) => one.first === first);
      if (part === null || own === undefined) waiting.delete(first);
      else {
        waiting.set(first, next(own));
        yield { first, part };
      }
    }
  } finally {
    end.abort();
    await Promise.allSettled(waiting.values());
  }
}
