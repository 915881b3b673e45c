/** What an OpenEnv server says of itself over HTTP: its name and the JSON schemas of its actions and observations. */
import { isJsonObject, parseJson } from '../../io/json.ts';
import { readBody } from '../../io/read-body.ts';
import type { Description } from '../../tasks/openenv/messages.ts';

const MAX_BYTES = 2 ** 20;
const MAX_TEXT = 4000;

/** Reads /schema and /metadata; a text: nobody is there. */
export async function describeServer(
  pages: string,
  key: string | null,
  timeoutMs: number,
): Promise<Description | string> {
  const [schema, metadata] = await Promise.all(
    ['schema', 'metadata'].map((name) => page(`${pages}/${name}`, key, timeoutMs)),
  );
  if (typeof schema === 'string' && schema.startsWith("can't")) return `${pages} ${schema}`;
  const { action, observation } = isJsonObject(schema) ? schema : {};
  const { name, description } = isJsonObject(metadata) ? metadata : {};
  return {
    name: textOf(name),
    description: textOf(description),
    action: isJsonObject(action) ? action : null,
    observation: isJsonObject(observation) ? observation : null,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT) : null;
}

/** The page's JSON; a text: there is none. */
async function page(url: string, key: string | null, timeoutMs: number): Promise<unknown> {
  try {
    const { status, body } = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(key !== null && { headers: { authorization: `Bearer ${key}` } }),
    });
    const bytes = await readBody(body, MAX_BYTES);
    if (bytes === null) return 'is too long';
    return status === 200 ? parseJson(bytes.toString('utf8')) : `answered with status ${status}`;
  } catch (error) {
    if (error instanceof SyntaxError) return 'is not JSON';
    const cause = error instanceof Error ? error.cause : null;
    return `can't be reached (${cause instanceof Error && 'code' in cause ? String(cause.code) : String(error)})`;
  }
}
