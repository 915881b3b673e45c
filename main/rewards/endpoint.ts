/** An HTTP endpoint: `{"answers": […]}` posted, `{"scores": […]}` in the same order back. */

import { inParallel } from '../in-parallel.ts';
import { partsOf } from '../lists.ts';
import type { Outcome } from '../tasks/external/messages.ts';
import { checkedAddress, type HttpSpec } from '../tasks/external/spec.ts';
import type { Answer } from '../tasks/task.ts';
import { asRequest, type Component, checkedScore, shownValue } from './component.ts';
import { type Breaker, openBreaker, type PostOptions, postJson } from './post.ts';
import { parsePythonJson } from './python-json.ts';

const MAX_BYTES = 16 * 2 ** 20;

/** Opens an endpoint; nothing is sent yet. */
export function openEndpoint(
  spec: HttpSpec,
  key: string | null,
  patience: Pick<PostOptions, 'pauseMs'> = {},
): Component {
  const url = checkedAddress(spec.http, spec.allow_plain_http).href;
  const closing = new AbortController();
  const options: PostOptions = {
    key,
    retries: spec.retries,
    timeoutMs: spec.timeout_s * 1000,
    maxBytes: MAX_BYTES,
    parse: (text) => parsePythonJson(text),
    signal: closing.signal,
    ...patience,
  };

  const scorePart = async (answers: readonly Answer[], breaker: Breaker): Promise<readonly Outcome[]> => {
    const requests = answers.map((answer, i) => asRequest(answer, i, spec));
    const posted = await breaker.ask(() => postJson(url, { answers: requests }, options));
    const outcomes = 'failure' in posted ? posted.failure : scoresIn(posted.body, answers.length);
    return typeof outcomes === 'string' ? answers.map(() => outcomes) : outcomes;
  };

  return {
    score: async (answers) => {
      const breaker = openBreaker(spec.concurrency + 1);
      const parts = await inParallel(partsOf(answers, spec.batch_size), spec.concurrency, (part) =>
        scorePart(part, breaker),
      );
      return { outcomes: parts.flat(), cost: null, cached: null };
    },
    close: async () => closing.abort(),
  };
}

/** The outcomes of an answer, or what is wrong with all of it. An object in place of a number says why there is none. */
function scoresIn(body: unknown, count: number): readonly Outcome[] | string {
  const scores = typeof body === 'object' && body !== null && 'scores' in body ? body.scores : undefined;
  if (!Array.isArray(scores)) return `expected {"scores": [numbers]}, got ${shownValue(body)}`;
  if (scores.length !== count) return `expected ${count} scores, got ${scores.length}`;
  return scores.map((score: unknown) => statedError(score) ?? checkedScore(score));
}

/** `{"error": "why"}`: the other side's own reason. */
export function statedError(value: unknown): string | null {
  const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined;
  return typeof error === 'string' ? error.slice(0, 500) : null;
}
