import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { httpRequest } from '../../main/io/http-request.ts';
import { MOST_ANSWER, readAnswer } from '../../main/io/read-body.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serving(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const get = { method: 'GET', headers: {}, body: null, timeoutMs: 20_000 } as const;

describe('httpRequest', () => {
  it('gives the status and the text', async () => {
    const url = await serving((response) => response.writeHead(404).end('né'));
    expect(await httpRequest(url, get)).toEqual({ status: 404, text: 'né' });
  });

  // As text it would be longer than a text can be, and end the process.
  it('leaves an answer without end', async () => {
    let sent = 0;
    const piece = Buffer.alloc(2 ** 22, 97);
    const url = await serving((response) => {
      const more = (): void => {
        while (!response.destroyed && sent < 4 * MOST_ANSWER) {
          sent += piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    await expect(httpRequest(url, get)).rejects.toThrow('the answer has more than 256 MiB');
    expect(sent).toBeLessThan(2 * MOST_ANSWER);
  });

  it('rejects where an answer breaks off, or takes too long', async () => {
    const broken = await serving((response) => response.write('a', () => response.destroy()));
    await expect(httpRequest(broken, get)).rejects.toThrow();
    const silent = await serving((response) => response.write('a'));
    await expect(httpRequest(silent, { ...get, timeoutMs: 100 })).rejects.toThrow();
  });
});

describe('readAnswer', () => {
  it('reads as many bytes as are expected, and no more', async () => {
    const body = async function* () {
      yield Buffer.from([0xc3]);
      yield Buffer.from([0xa9]);
    };
    expect(await readAnswer(body(), 2)).toBe('é');
    expect(await readAnswer(null)).toBe('');
    await expect(readAnswer(body(), 1)).rejects.toThrow('more than 0 MiB');
  });
});
