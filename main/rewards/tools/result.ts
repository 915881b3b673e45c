/** What answers the calls of a tool outside the sandbox, and how its answers are read. */
import type { CallResult } from '../../tasks/external/tool-messages.ts';

/** What answers calls; one command may answer those of several tools. */
export interface ToolServer {
  call(name: string, given: Readonly<Record<string, unknown>>): Promise<CallResult>;
  close(): Promise<void>;
}

/** The most characters of a result that are kept while it is read; the conversation shows fewer. */
export const MOST_RESULT = 2 ** 20;

/** `{"result": …}` or `{"error": "why"}`; null: neither. */
export function resultIn(value: unknown): CallResult | null {
  if (typeof value !== 'object' || value === null) return null;
  if ('error' in value && typeof value.error === 'string') return { error: value.error.slice(0, 2000) };
  if (!('result' in value)) return null;
  const { result } = value;
  return { text: typeof result === 'string' ? result : JSON.stringify(result) };
}
