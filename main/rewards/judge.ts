/**
 * A judge: a chat model behind an OpenAI-compatible address scores each completion by a rubric, or those of a prompt
 * together. What is equal is asked once, and answers are kept on disk (judge-cache.ts).
 */
import { z } from 'zod';
import { inParallel } from '../in-parallel.ts';
import type { Outcome } from '../tasks/external/messages.ts';
import { checkedAddress, type JudgeSpec, judgesGroups } from '../tasks/external/spec.ts';
import { fillIn } from '../tasks/folder/template.ts';
import { groupOf } from '../tasks/groups.ts';
import type { Answer } from '../tasks/task.ts';
import { type Component, shownValue, templateValues } from './component.ts';
import { cacheKey, type JudgeAnswer, type JudgeCache } from './judge-cache.ts';
import { judgeScore } from './judge-score.ts';
import { type Breaker, openBreaker, type PostOptions, postJson } from './post.ts';

const MAX_BYTES = 2 ** 20;

const tokens = z.number().min(0).catch(0);
const responseSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.union([z.string(), z.array(z.object({ text: z.string().catch('') }))]).nullish(),
          refusal: z.string().nullish().catch(null),
        }),
        finish_reason: z.string().nullish().catch(null),
      }),
    )
    .min(1),
  usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }).nullish().catch(null),
});
type Response = z.infer<typeof responseSchema>;

/** OpenAI's reasoning models refuse these fields, by name. */
const REFUSED_FIELD = /Unsupported (?:parameter|value): '(max_tokens|temperature)'/;

/** Opens a judge; nothing is sent yet. */
export function openJudge(
  spec: JudgeSpec,
  key: string | null,
  cache: JudgeCache,
  patience: Pick<PostOptions, 'pauseMs'> = {},
): Component {
  const url = chatAddress(spec);
  const isRanking = judgesGroups(spec);
  const closing = new AbortController();
  const options: PostOptions = {
    key,
    retries: spec.retries,
    timeoutMs: spec.timeout_s * 1000,
    maxBytes: MAX_BYTES,
    signal: closing.signal,
    ...patience,
  };

  let refused: readonly string[] = [];
  /** A path that nothing answers at is easily seen: most often it lacks /v1. */
  const askedAt = (failure: string): string => (/status 40[45]/.test(failure) ? ` (at ${new URL(url).pathname})` : '');

  const ask = async (request: JudgeRequest, breaker: Breaker): Promise<JudgeAnswer | NoAnswer> => {
    for (;;) {
      const left = refused;
      const posted = await breaker.ask(() => postJson(url, withoutFields(request, left), options));
      if (!('failure' in posted)) return answerIn(posted.body);
      const field = REFUSED_FIELD.exec(posted.failure)?.[1];
      if (field === undefined || left.includes(field))
        return { failure: `the judge ${posted.failure}${askedAt(posted.failure)}`, ...unpaid };
      refused = [...refused, field];
    }
  };

  return {
    score: async (answers) => {
      const requests = new Map<string, JudgeRequest>();
      const keys = answers.map((answer) => {
        const request = requestOf(spec, answer);
        const own = cacheKey(url, request);
        requests.set(own, request);
        return own;
      });
      const breaker = openBreaker(spec.concurrency + 1);
      let [cost, cached] = [0, 0];
      const answerTo = async ([own, request]: readonly [string, JudgeRequest]) => {
        const kept = cache.get(own);
        const answer = kept ?? (await ask(request, breaker));
        if (kept === null) cost += costOf(spec, answer);
        else cached++;
        if (kept === null && !('failure' in answer)) keep(cache, own, answer);
        return [own, answer] as const;
      };
      const judged = new Map(await inParallel([...requests], spec.concurrency, answerTo));
      const outcomeOf = (answer: Answer, own = ''): Outcome => {
        const said = judged.get(own);
        if (said === undefined) return 'the judge was not asked';
        if ('failure' in said) return said.failure;
        const which = isRanking ? groupOf(answer).place + 1 : null;
        return judgeScore(said.answer, spec.scale, { isCut: said.cut, which });
      };
      return {
        outcomes: answers.map((answer, i) => outcomeOf(answer, keys[i])),
        cost: spec.price_per_million === undefined ? null : cost,
        cached,
      };
    },
    close: async () => closing.abort(),
  };
}

/** The score is there and paid for: where it can't be kept (a full disk), a resumed run only asks again. */
function keep(cache: JudgeCache, key: string, answer: JudgeAnswer): void {
  try {
    cache.set(key, answer);
  } catch {
    // As above.
  }
}

/** The address of chat completions, from the base address that such servers document. */
function chatAddress({ judge, allow_plain_http }: JudgeSpec): string {
  const { origin, pathname, search } = checkedAddress(judge, allow_plain_http);
  const base = pathname.replace(/\/+$/, '');
  return `${origin}${base.endsWith('/chat/completions') ? base : `${base}/chat/completions`}${search}`;
}

interface JudgeRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly temperature: number;
  readonly max_tokens: number;
}

function requestOf(spec: JudgeSpec, answer: Answer): JudgeRequest {
  const numbered = groupOf(answer).completions.map(({ completion }, i) => [i + 1, completion]);
  const values = { completions: Object.fromEntries(numbered), ...templateValues(answer) };
  const system = spec.system === undefined ? [] : [{ role: 'system', content: fillIn(spec.system, values) }];
  return {
    model: spec.model,
    messages: [...system, { role: 'user', content: fillIn(spec.rubric, values) }],
    temperature: spec.temperature,
    max_tokens: spec.max_tokens,
  };
}

/** The request for a model that refuses these fields: one has a newer name, the other its own default. */
function withoutFields({ max_tokens, temperature, ...rest }: JudgeRequest, refused: readonly string[]): object {
  return {
    ...rest,
    ...(refused.includes('temperature') ? {} : { temperature }),
    ...(refused.includes('max_tokens') ? { max_completion_tokens: max_tokens } : { max_tokens }),
  };
}

/** Why an answer is missing; its tokens may have been paid for. */
interface NoAnswer extends Pick<JudgeAnswer, 'input_tokens' | 'output_tokens'> {
  readonly failure: string;
}
const unpaid = { input_tokens: 0, output_tokens: 0 } as const;

/** The answer of a chat completion, or why there is none. */
function answerIn(body: unknown): JudgeAnswer | NoAnswer {
  const { data } = responseSchema.safeParse(body);
  const [choice] = data?.choices ?? [];
  if (data === undefined || choice === undefined)
    return { failure: `the judge answered in another form than a chat completion: ${shownValue(body)}`, ...unpaid };
  const { prompt_tokens: input_tokens = 0, completion_tokens: output_tokens = 0 } = data.usage ?? {};
  const answer = textOf(choice.message.content);
  const failure = faultOf(choice, answer);
  if (failure !== null) return { failure, input_tokens, output_tokens };
  return { answer, input_tokens, output_tokens, ...(isCut(choice) && { cut: true }) };
}

/** Some servers give it in parts. */
function textOf(content: Response['choices'][number]['message']['content']): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('');
}

/** Some gateways keep the word of the model behind them. */
function isCut({ finish_reason: finish }: Response['choices'][number]): boolean {
  return finish === 'length' || finish?.toLowerCase() === 'max_tokens';
}

/** Why a text isn't the judge's answer; null: it is. */
function faultOf(choice: Response['choices'][number], answer: string): string | null {
  const { refusal } = choice.message;
  const { finish_reason: finish } = choice;
  if (finish === 'content_filter' || finish === 'error') return `the judge's answer was interrupted (${finish})`;
  if (answer.trim() !== '') return null;
  if (refusal != null && refusal !== '') return `the judge refused: ${shownValue(refusal)}`;
  if (isCut(choice)) return 'the judge wrote no answer within its max_tokens: raise them for a model that thinks first';
  return `the judge wrote no answer${finish == null ? '' : ` (${finish})`}`;
}

function costOf(
  { price_per_million: price }: JudgeSpec,
  { input_tokens, output_tokens }: JudgeAnswer | NoAnswer,
): number {
  return price === undefined ? 0 : (input_tokens * price.input + output_tokens * price.output) / 1e6;
}
