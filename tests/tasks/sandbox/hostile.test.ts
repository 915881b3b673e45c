/** Rewards that would harm whoever runs them. Each fails, or gives a harmless number; the next one works as ever. */
import { describe, expect, it } from 'vitest';
import { openRewardSandbox } from '../../../main/tasks/sandbox/reward-sandbox.ts';
import { answer, outcome, program, rewardWorker, scoreWith } from './scoring.ts';

const limits = { timeMs: 60, memoryMb: 8 };

/** Runs a reward's body in this process: what it may do here, it may do anywhere. */
async function attempt(body: string): Promise<readonly number[] | string> {
  try {
    const sandbox = await openRewardSandbox(
      program(`export const reward = () => {\n${body}\n};`, { limits }),
      rewardWorker,
    );
    return await sandbox.call('reward', answer('x'));
  } catch (error) {
    return (error as Error).message;
  }
}

const endless = [
  'for (;;);',
  'while (true) { [1].map((x) => x) }',
  'do { try { for (;;); } catch {} } while (true)',
  'try { for (;;); } finally { for (;;); }',
  'const f = () => Promise.resolve().then(f); for (;;) f();',
  'for (const x of { *[Symbol.iterator]() { for (;;) yield 1 } }) ;',
  "return /^(a+)+$/.test('a'.repeat(60) + 'b') ? 1 : 0",
  "return /(x+x+)+y/.test('x'.repeat(200)) ? 1 : 0",
  'return new Proxy({}, { get: () => { for (;;); } }).x',
  'return { get reward() { for (;;); } }',
  'return { then: () => 1, get reward() { for (;;); } }',
  'return { toString() { for (;;); }, valueOf() { for (;;); } } + 1',
  'const o = { toJSON() { for (;;); } }; return JSON.stringify(o)',
  'let n = 2n; for (;;) n *= n;',
  'Array.from({ length: 1e9 }, (_, i) => i)',
  "'a'.replace(/a/, () => { for (;;); })",
  'label: for (;;) { continue label; }',
];

const memory = [
  'const all = []; for (;;) all.push(new Array(1e4).fill(1));',
  "let text = 'x'; for (;;) text += text;",
  "return 'x'.repeat(2 ** 29).length",
  'return new Uint8Array(2 ** 30).length',
  'return new ArrayBuffer(2 ** 31 - 1).byteLength',
  'const map = new Map(); for (let i = 0; ; i++) map.set(i, { i });',
  "const o = {}; for (let i = 0; ; i++) o['k' + i] = i;",
  'let chain = {}; for (;;) chain = { chain };',
  'return new Array(2 ** 32 - 2).fill(0).length',
  "return ''.padEnd(2 ** 29).length",
  'const s = new Set(); for (;;) s.add(Symbol());',
  "return [...'x'.repeat(1e7)].length",
  "throw new Error('x'.repeat(1e8))",
];

const recursion = [
  'const f = () => f() + 1; return f()',
  'const a = () => b(), b = () => a(); return a()',
  'let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; return JSON.stringify(deep).length',
  "return JSON.parse('['.repeat(1e6))",
  "return new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).test('') ? 1 : 0",
  "const o = { toString() { return '' + o } }; return '' + o",
  'class A { get x() { return this.x } } return new A().x',
  'const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.x',
  "return eval('1' + '+1'.repeat(1e5))",
  "return eval('('.repeat(1e5) + '1' + ')'.repeat(1e5))",
  'let f = () => 1; for (let i = 0; i < 1e5; i++) { const g = f; f = () => g(); } return f()',
];

const access = [
  'return process.exit(1)',
  'return process.env.HOME.length',
  "return require('node:fs').readFileSync('/etc/passwd').length",
  'return module.exports',
  "return fetch('http://127.0.0.1/')",
  'return new XMLHttpRequest()',
  'return setTimeout(() => 1, 1)',
  'return setInterval(() => 1, 1)',
  'return setImmediate(() => 1)',
  'return queueMicrotask(() => 1)',
  "return new Worker('data:text/javascript,1')",
  'return new WebAssembly.Module(new Uint8Array())',
  'return new SharedArrayBuffer(8).byteLength + Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)',
  'return console.log(1)',
  'return Buffer.from([1]).length',
  'return performance.now()',
  'return crypto.getRandomValues(new Uint8Array(1))[0]',
  'return globalThis.process.pid',
  "return [].constructor.constructor('return process.pid')()",
  "return (() => {}).constructor('return this.process.pid')()",
  "return Function('return require')()('fs').length",
  "return (0, eval)('process.pid')",
  'return $braid.constructor',
  'return std.exit(1)',
  'return os.exec(["true"])',
  "return Deno.readTextFileSync('/etc/passwd').length",
  'return document.cookie.length',
];

/** They change what everything in the sandbox is made of, and give a number after it. */
const prototypes = [
  'Object.prototype.kind = "numbers"; Object.prototype.reason = "none"; return 1',
  'Array.prototype.push = () => { throw 1 }; Array.prototype.map = () => [9e9]; return 1',
  'JSON.parse = () => ({}); JSON.stringify = () => "[]"; return 1',
  'Object.defineProperty(Object.prototype, "number", { get: () => "9e99", configurable: true }); return 1',
  'Object.setPrototypeOf(Object.prototype, null); return 1',
  'Number.prototype.toString = () => "666"; String.prototype.valueOf = () => "666"; return 1',
  'globalThis.undefined2 = 1; delete globalThis.JSON; delete globalThis.Object; return 1',
  'Symbol.prototype[Symbol.toPrimitive] = () => 1; return 1',
  'return { __proto__: { reward: 1 } }',
  'return JSON.parse(\'{"__proto__": {"polluted": 1}, "reward": 1}\')',
  'Function.prototype.call = Function.prototype.apply = () => 666; return 1',
  'Error.prototype.toString = () => { for (;;); }; return 1',
];

describe('a hostile reward', () => {
  it.each(endless)('ends: %s', async (body) => {
    const began = performance.now();
    expect(await attempt(body)).toMatch(/took longer than|memory|promise|too deep|too large|interrupted/);
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it.each(memory)('is held to its memory: %s', async (body) => {
    expect(await attempt(body)).toMatch(/memory|took longer|too long|invalid|length|large/i);
    expect(process.memoryUsage().rss).toBeLessThan(4 * 2 ** 30);
  });

  it.each(recursion)('is held to its stack: %s', async (body) => {
    const result = await attempt(body);
    if (typeof result === 'string') expect(result).toMatch(/too deep|too many captures|memory|took longer|object/);
    else expect(result).toHaveLength(1);
  });

  it.each(access)('reaches nothing outside: %s', async (body) => {
    expect(await attempt(body)).toMatch(/is not defined|can't|cannot read|not a function|undefined|gave/);
  });

  it.each(prototypes)('changes nothing outside: %s', async (body) => {
    const before = Object.getOwnPropertyNames(Object.prototype).join();
    const result = await attempt(body);
    if (typeof result !== 'string') expect(result).toEqual([1]);
    expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(before);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect([1, 2].map((x) => x + 1)).toEqual([2, 3]);
  });

  it('leaves the completions after it alone, whatever it used up', () => {
    const text = `export const reward = ({ completion }) => {
  if (completion === 'loop') for (;;);
  if (completion === 'memory') { const all = []; for (;;) all.push(new Array(1e5).fill(1)); }
  if (completion === 'deep') { let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; JSON.stringify(deep); }
  if (completion === 'prototype') { Array.prototype.join = () => 'x'; Object.prototype.reward = 5; }
  return completion.length;
};`;
    const completions = ['loop', 'a', 'memory', 'ab', 'deep', 'abc', 'prototype', 'abcd'];
    const scored = scoreWith(text, completions, { limits: { timeMs: 300, memoryMb: 8 } }).map(outcome);
    expect(scored.filter((_, i) => i % 2 === 1)).toEqual([[1], [2], [3], [4]]);
    expect(scored.slice(0, 6).filter((_, i) => i % 2 === 0)).toEqual([
      expect.stringContaining('took longer'),
      expect.stringMatching(/memory|took longer/),
      expect.stringMatching(/too deep|took longer/),
    ]);
  });
});

describe('runJavaScript', () => {
  it.each([
    ['Object.prototype.toJSON = () => 666', '1 + 1'],
    ['for (;;);', '1'],
    ['JSON.parse("[".repeat(1e6))', '1'],
    ['globalThis.reward = () => 666', 'typeof process'],
    ['throw new Error("no")', '1'],
  ])('keeps a program from its judge: %s', async (text, expression) => {
    const source = `import { runJavaScript } from 'braid';
export const reward = () => {
  const [result] = runJavaScript(${JSON.stringify(text)}, [${JSON.stringify(expression)}]);
  return 'error' in result ? -1 : result.value === 666 ? 666 : 1;
};`;
    const sandbox = await openRewardSandbox(program(source, { limits }), rewardWorker);
    expect([1, -1]).toContain((await sandbox.call('reward', answer('x')))[0]);
    expect([1, -1]).toContain((await sandbox.call('reward', answer('x')))[0]);
  });
});
