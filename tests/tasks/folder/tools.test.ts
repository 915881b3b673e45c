import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WrittenCall } from '../../../main/samples/chat-message.ts';
import { openFolderTask } from '../../../main/tasks/folder/folder-task.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import type { EnvironmentStep, TaskRecord } from '../../../main/tasks/task.ts';
import { isFailedCall } from '../../../main/tasks/tool-use.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { rewardWorker } from '../sandbox/scoring.ts';

const DEFINITION = `title: T
fields: { question: text }
prompt: '{question}'
max_completion_length: 64
success_threshold: 1
time_limit_ms: 300
tools:
  - name: add
    description: The sum.
    parameters:
      type: object
      properties: { a: { type: number }, b: { type: number } }
      required: [a, b]
  - { name: spin, description: Never ends. }
  - { name: later, description: Gives a promise. }
`;

const TOOLS = `let calls = 0;
export function add({ a, b }: { a: number; b: number }) {
  calls++;
  if (a < 0) throw new Error('a is below 0');
  return { sum: a + b, calls };
}
export const spin = () => { for (;;) {} };
export const later = async () => 1;
`;

function opened({ definition = DEFINITION, tools = TOOLS } = {}) {
  const folder = join(temporaryFolder(), 'sums');
  mkdirSync(folder);
  writeFileSync(join(folder, 'task.yaml'), definition);
  writeFileSync(join(folder, 'reward.ts'), 'export const reward = ({ messages }) => messages.length;');
  writeFileSync(join(folder, 'tools.ts'), tools);
  const task = openFolderTask(readTaskFolder(folder), rewardWorker);
  onTestFinished(() => task.close());
  const record = task.parseRecord({ question: 'q' });
  const step = (...turns: (readonly WrittenCall[])[]): readonly (EnvironmentStep | string)[] =>
    task.environment?.step(turns.map((calls, i) => turnOf(record, calls, i + 1))) ?? [];
  return { task, record, step };
}

const turnOf = <R extends TaskRecord>(record: R, calls: readonly WrittenCall[], turn: number) => ({
  ...{ record, turn, calls, state: null, finish: 'stop' as const },
  messages: [{ role: 'assistant' as const, content: 'said' }],
});

const call = (name: string, given: Readonly<Record<string, unknown>> = {}): WrittenCall => ({
  call: { type: 'function', function: { name, arguments: given } },
});

const resultsOf = (step: EnvironmentStep | string | undefined) =>
  typeof step === 'object' ? step.called?.results.map(({ content }) => content) : step;

const idsOf = (step: EnvironmentStep | string | undefined) =>
  typeof step === 'object' ? step.called?.results.map(({ tool_call_id }) => tool_call_id) : step;

describe('the tools of a task', () => {
  it('are given to the chat template, in the order and with the keys of task.yaml', () => {
    const { record, task } = opened();
    expect(task.tools?.(record)?.[0]).toEqual({
      type: 'function',
      function: {
        name: 'add',
        description: 'The sum.',
        parameters: {
          type: 'object',
          properties: { a: { type: 'number' }, b: { type: 'number' } },
          required: ['a', 'b'],
        },
      },
    });
    expect(task.tools?.(record)).toHaveLength(3);
    expect(task.maxTurns).toBe(9);
  });

  it('answer every call of a turn with an id, and end a conversation without one', () => {
    const withId = (id: string): WrittenCall => ({
      call: { type: 'function', function: { name: 'ad', arguments: {} }, id },
    });
    const [calling, quiet, own, twice] = opened().step(
      [call('add', { a: 1, b: 2 }), call('add', { a: 3, b: 4 })],
      [],
      ['abcdefghi', 'VvvODy9mT'].map(withId),
      ['abcdefghi', 'abcdefghi'].map(withId),
    );
    // The model's own, where they are of use.
    expect(idsOf(own)).toEqual(['abcdefghi', 'VvvODy9mT']);
    expect(idsOf(twice)).toEqual(['call04000', 'call04001']);
    expect(calling).toMatchObject({
      done: false,
      called: {
        turn: { content: 'said', tool_calls: [{ id: 'call01000' }, { id: 'call01001' }] },
        results: [
          { role: 'tool', name: 'add', tool_call_id: 'call01000', content: '{"sum":3,"calls":1}' },
          { role: 'tool', name: 'add', tool_call_id: 'call01001', content: '{"sum":7,"calls":2}' },
        ],
      },
    });
    expect(quiet).toEqual({ message: null, rewards: null, done: true, state: null });
  });

  it('say what is wrong with a call, so that the next turn can do better', () => {
    const { record, step, task } = opened();
    const [late] = task.environment?.step([turnOf(record, [call('add', { a: 1, b: 2 })], 9)]) ?? [];
    expect(resultsOf(late)).toEqual(['{"error":"Not called: 8 turns may call tools (max_tool_calling_iterations)"}']);
    const [first] = step([
      { fault: 'expected a JSON object' },
      call('ad', { a: 1, b: 2 }),
      call('add', { a: 'x' }),
      call('add', { a: -1, b: 2 }),
      call('later'),
      call('add', { a: 1, b: 1 }),
    ]);
    expect(resultsOf(first)).toEqual([
      '{"error":"This call can\'t be read: expected a JSON object"}',
      '{"error":"There is no tool \\"ad\\", only add, spin, later; did you mean \\"add\\"?"}',
      '{"error":"The arguments of add don\'t fit: expected the value to have \\"b\\""}',
      '{"error":"a is below 0"}',
      '{"error":"later must not be async"}',
      '{"sum":2,"calls":2}',
    ]);
    const results = typeof first === 'object' ? (first.called?.results ?? []) : [];
    expect(results.map(isFailedCall)).toEqual([true, true, true, true, true, false]);
  });

  it('end a call that never ends, and answer the others', () => {
    const [spinning, adding] = opened().step([call('spin')], [call('add', { a: 1, b: 2 })]);
    expect(resultsOf(spinning)?.[0]).toMatch(/^\{"error":"tools\.ts:7:21: took longer than 300 ms/);
    expect(resultsOf(adding)).toEqual(['{"sum":3,"calls":1}']);
  });

  it('are scored by reward.ts, which sees calls and results', () => {
    const { task, record } = opened();
    const messages = [
      { role: 'assistant' as const, content: 'a' },
      { role: 'tool' as const, content: '1' },
    ];
    const answer = { record, completion: 'a', messages, tokens: 3, finish: 'stop' as const };
    expect(task.score([answer])).toEqual([{ components: { reward: 2 }, failure: null }]);
  });

  it('are checked with their task', () => {
    const { step } = opened({ tools: 'export const add = () => 1;' });
    expect(errorOf(() => step([call('add', { a: 1, b: 2 })]))).toMatchObject({
      message: expect.stringMatching(/^tools\.ts/),
    });
    const twice = DEFINITION.replace('name: spin', 'name: add').replace('type: object', 'type: array');
    expect(errorOf(() => opened({ definition: twice }))).toMatchObject({
      message: expect.stringMatching(/"parameters" of add to be of type object.*one tool called "add", got two/s),
    });
  });
});
