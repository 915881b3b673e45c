/** A thousand hostile rewards, each a program of its own: techniques in every wrapping that could change how they end. */

export interface HostileReward {
  readonly name: string;
  /** reward.ts */
  readonly text: string;
}

/** Statements that would harm whoever runs them. */
const techniques: Readonly<Record<string, string>> = {
  loop: 'for (;;);',
  'loop with work': 'let n = 0; while (true) n = (n + 1) % 7;',
  'loop over a generator': 'for (const x of (function* () { for (;;) yield 1 })()) if (x < 0) break;',
  'catastrophic regular expression': "/^(a+)+$/.test('a'.repeat(60) + 'b');",
  'backtracking alternatives': "/^(a|aa)+$/.test('a'.repeat(90) + '!');",
  'growing bigint': 'let b = 3n; for (;;) b *= b;',
  'sort that never ends': 'for (;;) [3, 1, 2].sort(() => 1);',
  'array bomb': 'const all = []; for (;;) all.push(new Array(5000).fill(all));',
  'text bomb': "let t = 'xy'; for (;;) t += t;",
  'one huge text': "const huge = 'x'.repeat(2 ** 29); if (huge.length < 1) throw 0;",
  'typed array bomb': 'const kept = []; for (;;) kept.push(new Float64Array(1e5));',
  'map bomb': 'const m = new Map(); for (let i = 0; ; i++) m.set({ i }, new Array(99).fill(i));',
  'closure bomb': 'let f = () => 1; for (;;) { const g = f; f = () => g; }',
  'symbol bomb': 'const s = []; for (;;) s.push(Symbol(String(s.length)));',
  recursion: 'const deep = () => deep() + 1; deep();',
  'mutual recursion': 'const even = (n) => odd(n + 1), odd = (n) => even(n + 1); even(0);',
  'recursion in a getter': 'const o = { get x() { return this.x } }; o.x;',
  'recursion in toString': "const s = { toString() { return '' + this } }; '' + s;",
  'deep JSON': "JSON.parse('['.repeat(2e5));",
  'deep nesting': 'let d = []; for (let i = 0; i < 2e5; i++) d = [d]; JSON.stringify(d);',
  'proxy of itself': 'const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x;',
  process: 'process.exit(1);',
  require: "require('node:child_process').execSync('true');",
  'dynamic import': "globalThis.late = import('node:fs'); throw new Error('imported');",
  fetch: "fetch('http://127.0.0.1:1/');",
  timers: 'setTimeout(() => {}, 0);',
  'constructor of a constructor': "[].constructor.constructor('return process')().exit();",
  'host function': "globalThis.$braid('words', '[\"x\"]');",
  WebAssembly: 'new WebAssembly.Memory({ initial: 60000 });',
  'shared memory': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);',
  'poisoned prototype':
    "Object.prototype.reward = 9; Object.defineProperty(Array.prototype, '0', { set() { throw 1 } }); throw new Error('poisoned');",
  'broken JSON': "JSON.parse = JSON.stringify = () => { for (;;); }; throw new Error('broken');",
  'missing globals':
    "for (const k of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[k] } catch {} throw 'gone';",
  'thrown bomb': "throw new Error('x'.repeat(5e7));",
  'thrown proxy': 'throw new Proxy({}, { get() { throw 1 }, ownKeys() { for (;;); } });',
  'odd result': 'return { toString() { for (;;); }, valueOf: null };',
};

/** Ways in which a technique is run: what catches, hides or delays it. */
const wrappings: Readonly<Record<string, (body: string) => string>> = {
  plainly: (body) => `export const reward = () => { ${body}\nreturn 1; };`,
  'as the file loads': (body) => `const run = () => { ${body}\n}; run();\nexport const reward = () => 1;`,
  'caught and tried again': (body) =>
    `export const reward = () => { for (let i = 0; i < 3; i++) try { ${body}\n} catch {} return 1; };`,
  'in finally': (body) => `export const reward = () => { try { throw 1 } finally { ${body}\n} };`,
  'in a getter': (body) => `export const reward = () => ({ get reward() { ${body}\nreturn 1 } });`,
  'in a class': (body) =>
    `class Judge { static { } judge() { ${body}\nreturn 1 } }\nexport const reward = () => new Judge().judge();`,
  'in a generator': (body) =>
    `function* steps() { ${body}\nyield 1; }\nexport const reward = () => [...steps()].length;`,
  'in a callback': (body) => `export const reward = () => [1].map(() => { ${body}\nreturn 1 })[0];`,
  'in a promise': (body) => `export const reward = () => { Promise.resolve().then(() => { ${body}\n}); return 1; };`,
  'in an async function': (body) => `export const reward = async () => { ${body}\nreturn 1; };`,
  'in toJSON': (body) => `export const reward = () => JSON.stringify({ toJSON() { ${body}\nreturn 1 } }).length;`,
  'in a proxy': (body) => `export const reward = () => new Proxy({}, { get() { ${body}\nreturn 1 } }).reward;`,
  'in a replacer': (body) => `export const reward = () => 'x'.replace(/x/, () => { ${body}\nreturn '1' }).length;`,
  'in a comparison': (body) => `export const reward = () => [2, 1].sort(() => { ${body}\nreturn 0 }).length;`,
  'in an iterator': (body) =>
    `export const reward = () => { for (const _ of { [Symbol.iterator]: () => ({ next() { ${body}\nreturn { done: true } } }) }); return 1; };`,
  'by eval': (body) =>
    `export const reward = () => { const run = () => eval(${JSON.stringify(`(() => { ${body}\n})()`)}); run(); return 1; };`,
  'by Function': (body) => `export const reward = () => { new Function(${JSON.stringify(body)})(); return 1; };`,
  'in a tagged template': (body) => `const tag = () => { ${body}\nreturn 1; };\nexport const reward = () => tag\`x\`;`,
  'in a default value': (body) =>
    `const given = () => { ${body}\nreturn 1; };\nexport const reward = (_, value = given()) => value;`,
  'in a computed name': (body) =>
    `const key = () => { ${body}\nreturn 'a'; };\nexport const reward = () => ({ [key()]: 1 }).a ?? 0;`,
  'in a setter': (body) => `export const reward = () => { const o = { set x(_) { ${body}\n} }; o.x = 1; return 1; };`,
  'through Reflect': (body) =>
    `export const reward = () => { Reflect.apply(() => { ${body}\n}, null, []); return 1; };`,
  'after a good call': (body) =>
    `let calls = 0;\nexport const reward = () => { if (calls++ === 0) return 1; ${body}\nreturn 1; };`,
  'in a labelled block': (body) =>
    `export const reward = () => { out: { do { ${body}\n} while (false); break out; } return 1; };`,
  'in a deep call': (body) =>
    `const down = (n) => { if (n > 0) return down(n - 1); ${body}\nreturn 1; };\nexport const reward = () => down(40);`,
  'by a bound function': (body) => `export const reward = function () { ${body}\nreturn 1; }.bind({ own: 1 });`,
  'twice in one call': (body) =>
    `const once = () => { try { ${body}\n} catch {} };\nexport const reward = () => { once(); once(); return 1; };`,
  'while it is destructured': (body) =>
    `export const reward = () => { const { x } = { get x() { ${body}\nreturn 1 } }; return x ?? 1; };`,
};

/** Every technique in every wrapping. */
export const hostileRewards: readonly HostileReward[] = Object.entries(techniques).flatMap(([technique, body]) =>
  Object.entries(wrappings).map(([wrapping, wrap]) => ({ name: `${technique}, ${wrapping}`, text: wrap(body) })),
);
