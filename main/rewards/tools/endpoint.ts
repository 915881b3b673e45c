/** A tool at an address: `{"name", "arguments"}` posted, `{"result": …}` or `{"error": "why"}` back. */
import { parseJsonExactly } from '../../io/json.ts';
import { shownValue } from '../component.ts';
import { postJson } from '../post.ts';
import { parsePythonJson } from '../python-json.ts';
import { MOST_RESULT, resultIn, type ToolServer } from './result.ts';

/** After a failure that may be over soon. */
const RETRIES = 2;

/** Opens it; nothing is sent yet. */
export function openToolEndpoint(
  { url, timeout_s }: { readonly url: string; readonly timeout_s: number },
  key: string | null,
  patience: { readonly pauseMs?: number } = {},
): ToolServer {
  const closing = new AbortController();
  const timeoutMs = timeout_s * 1000;
  const parse = (text: string): unknown => parsePythonJson(text, parseJsonExactly);
  const options = { key, retries: RETRIES, timeoutMs, maxBytes: MOST_RESULT, parse };
  return {
    call: async (name, given) => {
      // Further attempts have what is left of the time.
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]);
      const posted = await postJson(url, { name, arguments: given }, { ...options, ...patience, signal });
      if ('failure' in posted) return { failure: posted.failure };
      return resultIn(posted.body) ?? { failure: `expected {"result": …}, got ${shownValue(posted.body)}` };
    },
    close: async () => closing.abort(),
  };
}
