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

const responseSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
  usage: z.object({ prompt_tokens: z.number().default(0), completion_tokens: z.number().default(0) }).nullish(),
});

/** Opens a judge; nothing is sent yet. */
export function openJudge(
  spec: JudgeSpec,
  key: string | null,
  cache: JudgeCache,
  patience: Pick<PostOptions, 'pauseMs'> = {},
): Component {
  const url = chatAddress(spec);
  const closing = new AbortController();
  const options: PostOptions = {
    key,
    retries: spec.retries,
    timeoutMs: spec.timeout_s * 1000,
    maxBytes: MAX_BYTES,
    signal: closing.signal,
    ...patience,
  };

  const ask = async (request: object, breaker: Breaker): Promise<JudgeAnswer | string> => {
    const posted = await breaker.ask(() => postJson(url, request, options));
    if ('failure' in posted) return `the judge ${posted.failure}`;
    const { data } = responseSchema.safeParse(posted.body);
    if (data === undefined)
      return `the judge answered in another form than a chat completion: ${shownValue(posted.body)}`;
    const { choices, usage } = data;
    return {
      answer: choices[0]?.message.content ?? '',
      input_tokens: usage?.prompt_tokens ?? 0,
      output_tokens: usage?.completion_tokens ?? 0,
    };
  };

  return {
    score: async (answers) => {
      const requests = new Map<string, object>();
      const keys = answers.map((answer) => {
        const request = requestOf(spec, answer);
        const own = cacheKey(url, request);
        requests.set(own, request);
        return own;
      });
      const breaker = openBreaker(spec.concurrency + 1);
      let [cost, cached] = [0, 0];
      const answerTo = async ([own, request]: readonly [string, object]) => {
        const kept = cache.get(own);
        const answer = kept ?? (await ask(request, breaker));
        if (kept !== null) cached++;
        else if (typeof answer !== 'string') {
          keep(cache, own, answer);
          cost += costOf(spec, answer);
        }
        return [own, answer] as const;
      };
      const judged = new Map(await inParallel([...requests], spec.concurrency, answerTo));
      const outcomeOf = (answer: Answer, own = ''): Outcome => {
        const said = judged.get(own) ?? 'the judge was not asked';
        if (typeof said === 'string') return said;
        return judgeScore(said.answer, spec.scale, judgesGroups(spec) ? groupOf(answer).place + 1 : null);
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
  const { origin, pathname } = checkedAddress(judge, allow_plain_http);
  const base = pathname.replace(/\/+$/, '');
  return `${origin}${base.endsWith('/chat/completions') ? base : `${base}/chat/completions`}`;
}

function requestOf(spec: JudgeSpec, answer: Answer): object {
  const values = templateValues(answer);
  const system = spec.system === undefined ? [] : [{ role: 'system', content: fillIn(spec.system, values) }];
  return {
    model: spec.model,
    messages: [...system, { role: 'user', content: fillIn(spec.rubric, values) }],
    temperature: spec.temperature,
    max_tokens: spec.max_tokens,
  };
}

function costOf({ price_per_million: price }: JudgeSpec, { input_tokens, output_tokens }: JudgeAnswer): number {
  return price === undefined ? 0 : (input_tokens * price.input + output_tokens * price.output) / 1e6;
}
