/** Programs that a model wrote, judged by the bundled task: whatever they do, they score 0, and the next one its own. */
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openFolderTask } from '../../../main/tasks/folder/folder-task.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import { openProgramThread } from '../../../main/tasks/sandbox/program-thread.ts';
import { rewardWorker } from './scoring.ts';

const source = readTaskFolder(join(import.meta.dirname, '../../../resources/tasks/javascript-tests'));
const definition = source.definition.replace('time_limit_ms: 1000', 'time_limit_ms: 200');
const task = openFolderTask({ ...source, definition }, rewardWorker);
afterAll(() => task.close());
const record = task.parseRecord({ task: 'Double x.', tests: [['double(2)', 4]] });

const score = (programs: readonly string[]) =>
  task.score(programs.map((completion) => ({ record, completion, tokens: 3, finish: 'stop' as const })));

const returning = (value: string): string => `function double(x) { return ${value}; }`;

const uninterruptible = [
  'function double(x) { const a = []; a.length = 2 ** 32 - 1; return a; }',
  'function double(x) { const a = []; a[2 ** 32 - 2] = 1; return a.sort().length; }',
  returning("Array(2 ** 32 - 1).join('')"),
  returning('[].indexOf.call({ length: 2 ** 53 - 1 }, 1)'),
  'function double(x) { const a = []; a.length = 2 ** 32 - 1; throw a; }',
  '[].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)',
];

const harmful = [
  returning("new Array(2e6).fill('ab')"),
  returning('new Uint8Array(2e6)'),
  returning("'x'.repeat(1e6)"),
  returning('2n * BigInt(x)'),
  returning('3n ** (10n ** 9n)'),
  returning("Symbol('x')"),
  returning('{ toJSON() { for (;;); } }'),
  returning('{ get a() { for (;;); } }'),
  returning('new Proxy([], { get: () => 2 ** 53 - 1 })'),
  returning('{ then: (done) => done(4) }'),
  returning('Promise.resolve(4)'),
  returning("JSON.parse('['.repeat(3000) + ']'.repeat(3000))"),
  'function double(x) { let a = {}; for (let i = 0; i < 20000; i++) a = { a }; return a; }',
  'function double(x) { const a = {}; a.a = a; return a; }',
  'function double(x) { return double(x); }',
  "function double(x) { throw { name: 'InternalError', message: 'interrupted', stack: {} }; }",
  "function double(x) { throw new Error('x'.repeat(1e7)); }",
  'function double(x) { throw new Proxy({}, { get() { throw 1; }, ownKeys() { for (;;); } }); }',
  'Object.prototype.toJSON = () => { for (;;); }; function double(x) { return {}; }',
  'Object.prototype.get = Object.prototype.set = () => { for (;;); }; function double(x) { return {}; }',
  'JSON.stringify = () => "4"; delete globalThis.JSON; function double(x) { return 5; }',
  '\0',
  '('.repeat(50_000),
  `\`\`\`js\n${'\n'.repeat(50_000)}`,
];
const good = returning('2 * x');

describe('a program in a completion', () => {
  it.each(uninterruptible)('scores 0 where QuickJS cannot end it: %s', (program) => {
    expect(score([program, good])).toEqual([
      { components: { passed: 0, all: 0 }, failure: null },
      { components: { passed: 1, all: 1 }, failure: null },
    ]);
  });

  it('scores 0 whatever it gives, throws or changes, and leaves the next alone', () => {
    const scores = score(harmful.flatMap((program) => [program, good]));
    expect(scores.map(({ failure }) => failure)).toEqual(scores.map(() => null));
    const passed = scores.map(({ components }) => components.passed);
    expect(passed).toEqual(harmful.flatMap(() => [0, 1]));
  });

  it('tells NaN and Infinity from null, and leaves the order of fields out', () => {
    const tests = [
      ['double(0)', null],
      ['[double(0)]', [null]],
      ['pair()', { a: 1, b: [{ c: 2, d: 3 }] }],
    ];
    const asked = task.parseRecord({ task: 'Double x.', tests });
    const pair = 'function pair() { return { b: [{ d: 3, c: 2 }], a: 1 }; }';
    const passed = ['-Infinity', 'NaN', 'null'].map(
      (value) => `\`\`\`JavaScript\n${returning(value)}\n${pair}\n\`\`\``,
    );
    const scores = task.score(
      passed.map((completion) => ({ record: asked, completion, tokens: 3, finish: 'stop' as const })),
    );
    expect(scores.map(({ components }) => components.passed)).toEqual([1 / 3, 1 / 3, 1]);
  });

  it('has a fixed clock in UTC, and the same random numbers each time', () => {
    const programs = Array(2).fill(returning('[Date.now(), new Date().getHours(), Math.random(), Date().length]'));
    const thread = openProgramThread({ timeMs: 1000, memoryMb: 16 }, rewardWorker);
    const [first, second] = programs.map((program) => thread.run(program, ['double(1)', 'Date.now()']));
    thread.close();
    expect(first).toEqual(second);
    expect(first?.[0]?.json).toBe(`[946684800000,0,${16807 / 2147483647},33]`);
  });
});

describe('openProgramThread', () => {
  it('shares the time of one call of the reward among its programs', () => {
    const thread = openProgramThread({ timeMs: 100, memoryMb: 16 }, rewardWorker);
    const late = { error: 'took longer than 100 ms together' };
    expect(thread.run('[].indexOf.call({ length: 2 ** 53 - 1 }, 1)', ['1'])).toEqual([late]);
    expect(thread.run('', ['1'])).toEqual([late]);
    thread.begin();
    expect(thread.run('', ['1', 'undefined', 'missing'])).toEqual([
      { json: '1' },
      {},
      { error: expect.stringContaining("ReferenceError: 'missing' is not defined") },
    ]);
    thread.close();
  });

  it('says at once why its thread cannot start', () => {
    const began = performance.now();
    const thread = openProgramThread({ timeMs: 100, memoryMb: 16 }, join(import.meta.dirname, 'missing.ts'));
    expect(() => thread.run('', ['1'])).toThrow(/can't start: Cannot find module .*missing\.ts/);
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});
