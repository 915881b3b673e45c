import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { openMcpServer } from '../../../main/api/mcp/server.ts';
import { serveLines } from '../../../main/api/mcp/stdio.ts';
import { tool } from '../../../main/api/mcp/tool.ts';
import { inputError } from '../../../main/errors.ts';

const answer = openMcpServer({
  version: '1.2.3',
  instructions: 'For tests.',
  tools: [
    tool(
      'add',
      { description: 'Adds.', input: z.strictObject({ a: z.int().max(9), b: z.int().default(1) }) },
      ({ a, b }) => ({
        sum: a + b,
      }),
    ),
    tool('refuse', { description: 'Refuses.', input: z.strictObject({}), readOnly: false }, () => {
      throw inputError('NO', 'Not today', 'Try tomorrow.');
    }),
    tool('break', { description: 'Breaks.', input: z.strictObject({}) }, () => {
      throw new Error('bug');
    }),
  ],
});

async function ask(message: unknown): Promise<unknown> {
  const text = await answer(typeof message === 'string' ? message : JSON.stringify(message));
  return text === null ? null : JSON.parse(text);
}

const request = (method: string, params?: unknown) => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  ...(params !== undefined && { params }),
});
const call = (name: string, args?: unknown) =>
  request('tools/call', { name, ...(args !== undefined && { arguments: args }) });
const refused = (code: number, id: unknown = 7) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: expect.any(String) },
});

describe('openMcpServer', () => {
  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])('speaks revision %s', async (protocolVersion) => {
    expect(await ask(request('initialize', { protocolVersion }))).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: {
        protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'braid', version: '1.2.3' },
        instructions: 'For tests.',
      },
    });
  });

  it('offers the newest revision to a client of an unknown one', async () => {
    const answered = await ask(request('initialize', { protocolVersion: '1999-01-01' }));
    expect(answered).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  });

  it('lists tools with the schema of their input, and whether they only read', async () => {
    const { result } = (await ask(request('tools/list'))) as { result: { tools: unknown[] } };
    expect(result.tools[0]).toEqual({
      name: 'add',
      description: 'Adds.',
      inputSchema: {
        type: 'object',
        properties: {
          a: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: 9 },
          b: { default: 1, type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        },
        required: ['a'],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    });
    expect(result.tools[1]).toMatchObject({ name: 'refuse', annotations: { readOnlyHint: false } });
  });

  it('calls a tool', async () => {
    expect(await ask(call('add', { a: 2 }))).toMatchObject({
      id: 7,
      result: { content: [{ type: 'text', text: '{"sum":3}' }] },
    });
    expect(await ask({ ...request('ping'), id: 'seven' })).toEqual({ jsonrpc: '2.0', id: 'seven', result: {} });
  });

  it.each([
    [call('refuse'), 'Not today (NO)\nTry tomorrow.'],
    [call('add', { a: 10 }), /"a": .*<=9 \(BAD_REQUEST\)\nThe schema of add/],
    [call('add', { a: 1, c: 1 }), /"c"/],
    [call('add', [1]), /BAD_REQUEST/],
    [call('add', { a: '\0' }), /NUL/],
  ])('makes the failure of a tool a result that the agent can read', async (message, text) => {
    const told = { content: [{ type: 'text', text: typeof text === 'string' ? text : expect.stringMatching(text) }] };
    expect(await ask(message)).toMatchObject({ result: { ...told, isError: true } });
  });

  it("keeps a bug's stack out of the answer", async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const answered = JSON.stringify(await ask(call('break')));
    expect(answered).toContain('Something went wrong in Braid: bug');
    expect(answered).not.toContain('server.test.ts');
    expect(String(stderr.mock.calls[0]?.[0])).toContain('server.test.ts');
    stderr.mockRestore();
  });

  it('refuses what it does not know, by the codes of JSON-RPC', async () => {
    expect(await ask('{')).toEqual(refused(-32700, null));
    expect(await ask(5)).toEqual(refused(-32600, null));
    expect(await ask({ id: 7, method: 'ping' })).toEqual(refused(-32600, null));
    expect(await ask({ jsonrpc: '2.0', id: 7 })).toEqual(refused(-32600));
    expect(await ask({ ...request('ping'), id: { a: 1 } })).toEqual(refused(-32600, null));
    expect(await ask(request('resources/list'))).toEqual(refused(-32601));
    expect(await ask(request('tools/call', [1]))).toEqual(refused(-32602));
    expect(await ask(call('start_run'))).toEqual(refused(-32602));
    expect(await ask([])).toEqual(refused(-32600, null));
  });

  it('answers neither notifications nor answers, and each request of a batch', async () => {
    expect(await ask({ jsonrpc: '2.0', method: 'notifications/initialized' })).toBeNull();
    expect(await ask({ jsonrpc: '2.0', id: 1, result: {} })).toBeNull();
    const notice = { jsonrpc: '2.0', method: 'notifications/cancelled' };
    expect(await ask([notice])).toBeNull();
    expect(await ask([notice, request('ping')])).toEqual([{ jsonrpc: '2.0', id: 7, result: {} }]);
  });
});

describe('serveLines', () => {
  async function served(parts: readonly string[], by = (line: string) => Promise.resolve<string | null>(`<${line}>`)) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const done = serveLines(input, output, by);
    for (const part of parts) {
      input.write(part);
      await setImmediate();
    }
    input.end();
    await done;
    return String(output.read() ?? '');
  }

  it('puts lines together from parts, and leaves out empty ones and silence', async () => {
    expect(await served(['on', 'e\n\ntwo\r\nth', 'ree\nhalf'])).toBe('<one>\n<two\r>\n<three>\n');
    expect(await served(['one\n'], async () => null)).toBe('');
  });

  it('refuses a message without end, and goes back to work after it', async () => {
    const text = await served(['x'.repeat(16 * 2 ** 20 + 1), 'more', '\nnext\n']);
    expect(text.split('\n')).toEqual([expect.stringContaining('at most 16 MiB'), '<next>', '']);
  });

  it('ends at a signal, after answering what is in progress', async () => {
    let finish = (_: string): void => undefined;
    const input = new PassThrough();
    const output = new PassThrough();
    const ending = new AbortController();
    const slow = () => new Promise<string>((resolve) => (finish = resolve));
    const done = serveLines(input, output, slow, ending.signal);
    input.write('one\n');
    await setImmediate();
    ending.abort();
    finish('late');
    await done;
    expect(String(output.read())).toBe('late\n');
  });
});
