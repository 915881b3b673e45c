import { describe, expect, it, onTestFinished } from 'vitest';
import { openToolCommand } from '../../../main/rewards/tools/command.ts';
import { openToolEndpoint } from '../../../main/rewards/tools/endpoint.ts';
import type { ToolServer } from '../../../main/rewards/tools/result.ts';
import { reachOf } from '../../../main/tasks/external/access.ts';
import { outsideParts, parseDefinition } from '../../../main/tasks/folder/definition.ts';
import { openFolderTask } from '../../../main/tasks/folder/folder-task.ts';
import type { FolderRecord } from '../../../main/tasks/folder/record.ts';
import type { EnvironmentTurn } from '../../../main/tasks/task.ts';
import { processPaths } from '../../processes/paths.ts';
import { rewardWorker } from '../../tasks/sandbox/scoring.ts';
import { rewardServer } from '../reward-server.ts';

/** A command's tools: what they do is said by their names. */
const TOOLS = `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, name, arguments: given } = JSON.parse(line);
  const say = (answer) => console.log(JSON.stringify({ id, ...answer }));
  if (name === 'add') setTimeout(() => say({ result: given.a + given.b }), given.ms ?? 0);
  else if (name === 'find') console.log('{"id": ' + id + ', "result": {"post": 1234567890123456789}}');
  else if (name === 'divide') console.log('{"id": ' + id + ', "result": {"mean": NaN, "text": "NaN"}}');
  else if (name === 'refuse') say({ error: 'no such article' });
  else if (name === 'die') process.exit(3);
  else if (name === 'chat') console.log('hello');
  else if (name === 'flood') console.log('x'.repeat(2 ** 21));
  else if (name === 'strange') say({ answer: 1 });
});`;

function command(timeout_s = 20): ToolServer {
  const files = { 'tools.cjs': TOOLS };
  const server = openToolCommand({ command: [process.execPath, 'tools.cjs'], files: [], timeout_s }, files);
  onTestFinished(() => server.close());
  return server;
}

describe('openToolCommand', () => {
  it('answers calls in any order, and what it refuses in its own words', async () => {
    const tools = command();
    const order: number[] = [];
    const calls = [60, 0].map((ms, i) =>
      tools.call('add', { a: i, b: 1, ms }).then((result) => {
        order.push(i);
        return result;
      }),
    );
    expect(await Promise.all(calls)).toEqual([{ text: '1' }, { text: '2' }]);
    expect(order).toEqual([1, 0]);
    expect(await tools.call('refuse', {})).toEqual({ error: 'no such article' });
    expect(await tools.call('find', {})).toEqual({ text: '{"post":"1234567890123456789"}' });
    // As Python writes it: a run continues.
    expect(await tools.call('divide', {})).toEqual({ text: '{"mean":"NaN","text":"NaN"}' });
  });

  it.each([
    ['die', 'the command ended with code 3'],
    ['chat', 'the command wrote a line that isn\'t JSON (messages belong to the error output): "hello"'],
    ['flood', 'the command wrote a line of more than 1 MiB'],
    ['strange', 'the command expected {"id", "result"} or {"id", "error"}, got {"id":0,"answer":1}'],
  ])('fails the calls of one that would %s, and starts it again', async (name, failure) => {
    const tools = command();
    const [bad, beside] = await Promise.all([tools.call(name, {}), tools.call('add', { a: 1, b: 1, ms: 60_000 })]);
    expect([bad, beside]).toEqual([{ failure }, { failure }]);
    expect(await tools.call('add', { a: 1, b: 2 })).toEqual({ text: '3' });
  });

  it('fails a call that takes too long, or whose program is not there', async () => {
    expect(await command(0.05).call('wait', {})).toEqual({ failure: 'the command gave no answer within 0.05 s' });
    const missing = openToolCommand({ command: ['no-such-program'], files: [], timeout_s: 5 }, {});
    onTestFinished(() => missing.close());
    expect(await missing.call('add', {})).toMatchObject({ failure: /can't be started/ });
  });
});

describe('openToolEndpoint', () => {
  it('posts name and arguments, and gives the result, its error, or why there is neither', async () => {
    const answers: Record<string, string> = {
      add: '{"result": {"sum": 3}}',
      find: '{"result": 1234567890123456789}',
      divide: '{"result": -Infinity}',
      refuse: '{"error": "no"}',
      strange: '[]',
      flood: 'x'.repeat(2 ** 21),
    };
    const { url, received } = await rewardServer(
      ({ body }, _, response) => void response.end(answers[body.name] ?? ''),
    );
    const tool = openToolEndpoint({ url, timeout_s: 5 }, null, { pauseMs: 1 });
    const asked = ['add', 'find', 'divide', 'refuse', 'strange', 'flood'].map((name) => tool.call(name, { a: 1 }));
    expect(await Promise.all(asked)).toEqual([
      { text: '{"sum":3}' },
      { text: '1234567890123456789' },
      { text: '-Infinity' },
      { error: 'no' },
      { failure: 'expected {"result": …}, got []' },
      { failure: 'answered with more than 1 MiB' },
    ]);
    expect(received.find(({ body }) => body.name === 'add')?.body).toEqual({ name: 'add', arguments: { a: 1 } });
    await tool.close();
  });

  it('gives all attempts together the time of one call', async () => {
    const { url } = await rewardServer(() => undefined);
    const tool = openToolEndpoint({ url, timeout_s: 0.05 }, null, { pauseMs: 1 });
    expect(await tool.call('add', {})).toEqual({ failure: 'gave no answer within 0.05 s' });
    await tool.close();
  });

  it('fails a call whose server interrupts its answers, after three attempts', async () => {
    const { url } = await rewardServer(({ body }, _, response) => {
      response.writeHead(body.name === 'break' ? 200 : 500, { 'content-length': 100 }).write('{"result": "ab');
      setTimeout(() => response.destroy(), 5);
    });
    const tool = openToolEndpoint({ url, timeout_s: 20 }, null, { pauseMs: 1 });
    for (const name of ['break', 'fail'])
      expect(await tool.call(name, {})).toEqual({ failure: 'interrupted its answer (ECONNRESET), 3 times' });
    await tool.close();
  });
});

const DEFINITION = `title: Shop
fields: { question: text }
prompt: '{question}'
max_completion_length: 64
success_threshold: 1
tools:
  - name: add
    description: Adds two numbers.
    parameters: { type: object, properties: { a: { type: number }, b: { type: number } }, required: [a, b] }
    command: [${JSON.stringify(process.execPath)}, tools.cjs]
  - name: die
    description: Ends the program.
    command: [${JSON.stringify(process.execPath)}, tools.cjs]
  - name: twice
    description: Doubles a number.
    parameters: { type: object, properties: { a: { type: number } }, required: [a] }
`;

/** The task with what the user has agreed to. */
function opened(allowed: 'all' | 'nothing') {
  const files = { 'tools.cjs': TOOLS, 'tools.ts': 'export const twice = ({ a }) => 2 * a;' };
  const source = {
    name: 'shop',
    folder: '/tasks/shop',
    definition: DEFINITION,
    reward: 'export const reward = () => 1;',
    files,
  };
  const parts = Object.entries(outsideParts(parseDefinition('task.yaml', DEFINITION)));
  const hashes = parts.map(([name, spec]) => reachOf(name, spec, files)?.hash ?? '');
  const access = {
    worker: processPaths().externalRewards,
    allowed: allowed === 'all' ? hashes : [],
    keys: {},
    cacheFolder: '',
    models: {},
    kernelsFile: '',
  };
  const task = openFolderTask(source, rewardWorker, access);
  onTestFinished(() => task.close());
  return task;
}

function turn(
  ...calls: readonly (readonly [name: string, given: Record<string, unknown>])[]
): EnvironmentTurn<FolderRecord> {
  return {
    record: { id: 'a', prompt: 'How much?' },
    messages: [{ role: 'assistant', content: '' }],
    calls: calls.map(([name, given]) => ({ call: { type: 'function', function: { name, arguments: given } } })),
    turn: 1,
    finish: 'stop',
    state: null,
  };
}

describe('a task with tools outside the sandbox', () => {
  it('mixes them with functions of tools.ts, checks arguments first, and fails a completion whose tool is lost', async () => {
    const { environment } = opened('all');
    const turns = [
      turn(['twice', { a: 4 }], ['add', { a: 1, b: 2 }], ['add', { a: 'x' }], ['twice', { a: 5 }]),
      turn(['die', {}]),
    ];
    const [first] = await Promise.all(environment?.stepLater?.(turns.slice(0, 1)) ?? []);
    const [second] = await Promise.all(environment?.stepLater?.(turns.slice(1)) ?? []);
    const results = typeof first === 'object' ? first.called?.results.map(({ content }) => content) : [];
    expect(results).toEqual(['8', '3', expect.stringMatching(/^\{"error":"The arguments of add don't fit/), '10']);
    expect(second).toBe('die: the command ended with code 3');
  });

  it('scores no completion whose tool was lost, whatever its reward would give', () => {
    const task = opened('all');
    const record = { id: 'a', prompt: 'How much?', question: 'How much?' };
    const answer = { record, completion: '', messages: [], tokens: 1, finish: 'stop' as const };
    const lost = { ...answer, outcome: { components: {}, failure: 'die: the command ended with code 3' } };
    const [fine, failed] = task.score([answer, lost]);
    expect(fine).toEqual({ components: { reward: 1 }, failure: null });
    expect(failed).toEqual({ components: { reward: Number.NaN }, failure: 'die: the command ended with code 3' });
  });

  it('reaches nothing that the user has not agreed to', async () => {
    const { environment } = opened('nothing');
    await expect(Promise.all(environment?.stepLater?.([turn(['add', { a: 1, b: 2 }])]) ?? [])).rejects.toMatchObject({
      code: 'REWARD_NOT_ALLOWED',
    });
  });

  it.each([
    ["    command: ['']", 'expected a program and its arguments'],
    ['    http: http://elsewhere.example/', 'plain http'],
    ['    timeout_s: 3', '"timeout_s" is for a tool with a "command" or an "http" address'],
    ['    command: [a]\n    http: https://a.example/', 'expected either "command" or "http", got both'],
  ])('refuses a tool with %s', (line, reason) => {
    expect(() => parseDefinition('task.yaml', DEFINITION + line)).toThrow(reason);
  });
});
