/** A server that answers as a test says, on a free port of this machine. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { listenInTest } from '../local-server.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent, for a test to look into
  readonly body: any;
}

export interface RewardServer {
  readonly url: string;
  readonly received: readonly Received[];
  /** The most requests that were under way at a time. */
  readonly most: () => number;
}

/** Starts it; `answer` gets each request and how many came before. */
export async function rewardServer(
  answer: (request: Received, before: number, response: ServerResponse) => void | Promise<void>,
): Promise<RewardServer> {
  const received: Received[] = [];
  let [open, most] = [0, 0];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      most = Math.max(most, ++open);
      response.on('close', () => open--);
      const text = Buffer.concat(pieces).toString('utf8');
      const one = { path: request.url ?? '', headers: request.headers, body: text === '' ? null : JSON.parse(text) };
      received.push(one);
      void answer(one, received.length - 1, response);
    });
  });
  return { url: await listenInTest(server), received, most: () => most };
}

export function json(
  response: ServerResponse,
  value: object,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

/** A chat completion with this text. */
export function chatAnswer(content: string, usage = { prompt_tokens: 100, completion_tokens: 10 }): object {
  return { choices: [{ message: { role: 'assistant', content } }], usage };
}
