/** Task folders of other people: listing them takes no time, whatever their files hold, and says what is wrong by name. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listTasks } from '../../../main/services/tasks/task-list.ts';
import { parseDefinition } from '../../../main/tasks/folder/definition.ts';
import { sandboxComponents } from '../../../main/tasks/folder/source.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');
const START = 'title: a\nsuccess_threshold: 1\nmax_completion_length: 9\nprompt: PROMPT\n';

/** By what is wrong with task.yaml, or null where only the time counts. */
const definitions: readonly (readonly [name: string, text: string, problem: RegExp])[] = [
  ['quotes', '"'.repeat(260_000), /at most 131072 characters/],
  ['quotes-short', '"'.repeat(100_000), /at most 6000 names/],
  ['keys', lines(40_000, (i) => `k${i}: 1`), /at most 131072 characters/],
  ['keys-short', lines(600, (i) => `k${i}: 1`), /"title" is missing/],
  ['same-keys', lines(600, () => 'k: 1'), /Map keys must be unique; "k" is repeated/],
  ['a-name-that-schemas-drop', 'rewards: { __proto__: 1 }', /another name than "__proto__"/],
  ['brackets', '['.repeat(100_000), /at most 50 levels/],
  ['blocks', '- '.repeat(2900), /at most 50 levels/],
  ['escapes', `a: "${'\\x'.repeat(60_000)}"`, /at most 6000 names/],
  ['aliases', lines(900, () => '- *a'), /the alias \*a/],
  ['anchors', '&a '.repeat(1900), /at most one anchor/],
  ['long-alias', `a: *${'b'.repeat(100_000)}`, /the alias \*b/],
  ['long-tag', `!${'a'.repeat(100_000)} x`, /Unresolved tag|resolve tag/],
  [
    'placeholders',
    `${START.replace('PROMPT', `|\n${lines(12_000, (i) => `  {a${i}}`)}`)}\nfields: {b: text}`,
    /names \{a0\}/,
  ],
  [
    'placeholders-and-fields',
    `${START.replace('PROMPT', `|\n${lines(1000, (i) => `  {${'n'.repeat(40)}${i}x}`)}`)}\nfields:\n${lines(500, (i) => `  ${'n'.repeat(40)}${i}: text`)}`,
    /which is not in "fields"; did you mean/,
  ],
  [
    'long-placeholder',
    `${START.replace('PROMPT', `'{${'a'.repeat(100_000)}}'`)}fields: {b: text}`,
    /names \{a{100}…\}/,
  ],
  ['field-types', `${START}fields:\n${lines(500, (i) => `  f${i}: tixt`)}`, /expected one of text/],
  ['long-field', `${START}fields: {? ${'a'.repeat(50_000)} : text}`, /at most 100 letters/],
  [
    'components',
    `${START}fields: {a: text}\nrewards:\n${lines(500, (i) => `  r${i}: x`)}`,
    /expected a number \(its weight\)/,
  ],
  [
    'rubrics',
    `${START}fields: {a: text}\nrewards:\n${lines(120, (i) => `  r${i}: {weight: 1, judge: "http://127.0.0.1", model: m, rubric: "${'{b} '.repeat(150)}"}`)}`,
    /names \{b\}, which is not in "fields"/,
  ],
  [
    'messages',
    `${START.replace('prompt: PROMPT\n', '')}fields: {a: text}\nmessages:\n${lines(120, () => '  - {role: user, content: "{b}"}')}`,
    /names \{b\}/,
  ],
  ['title', `${START.replace(': a', `: ${'b'.repeat(100_000)}`)}fields: {a: text}`, /at most 200 characters/],
  ['megabytes', `a: ${'x'.repeat(2 ** 21)}`, /a file of at most 1 MiB, got 3/],
  ['binary', '\u0001', /binary/],
];

function workspaceWith(tasks: readonly (readonly [name: string, files: Readonly<Record<string, string>>])[]): string {
  const workspace = temporaryFolder();
  for (const [name, files] of tasks) {
    mkdirSync(join(workspace, 'tasks', name), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(workspace, 'tasks', name, file), text);
  }
  return workspace;
}

const REWARD = 'export const reward = () => 1;';
const list = (workspace: string) => listTasks({ workspace, paths: { resources: join(workspace, 'none') } });

describe('listTasks', () => {
  it.each(definitions)('refuses a hostile task.yaml at once and by name: %s', (name, text, problem) => {
    const workspace = workspaceWith([[name, { 'task.yaml': text, 'reward.ts': REWARD }]]);
    const began = performance.now();
    const [task] = list(workspace);
    // 100 ms on an idle machine; these took seconds to minutes.
    expect(performance.now() - began).toBeLessThan(1500);
    expect(task?.problem).toMatch(problem);
    expect(task?.problem?.length).toBeLessThan(600);
  });

  it('refuses files of many megabytes unread', () => {
    const good = `${START}fields: {a: text}`;
    const parts = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`part${i}.py`, '#'.repeat(2 ** 20)]));
    const command = `[python, ${Object.keys(parts).join(', ')}]`;
    const workspace = workspaceWith([
      ['a', { 'task.yaml': good, 'reward.ts': `// ${'x'.repeat(50 * 2 ** 20)}` }],
      ['b', { 'task.yaml': `${good}\nrewards: {r: {weight: 1, command: ${command}}}`, 'reward.ts': REWARD, ...parts }],
      ['c', { 'task.yaml': good, 'reward.ts': REWARD, 'records.jsonl': '{}\n'.repeat(2e6) }],
    ]);
    const began = performance.now();
    const problems = list(workspace).map(({ problem }) => problem);
    expect(performance.now() - began).toBeLessThan(3000);
    expect(problems).toEqual([expect.stringContaining('at most 1 MiB, got 51'), null, null]);
  });

  it('takes names that objects have anyway, and arguments that no file can have, for what they are', () => {
    const good = `${START}fields: {a: text}`;
    const workspace = workspaceWith([
      ['a', { 'task.yaml': `${good}\nrewards: {constructor: 1, toString: 2}`, 'reward.ts': REWARD }],
      ['b', { 'task.yaml': `${good}\nrewards: {r: {weight: 1, command: [python, ${'n'.repeat(5000)}]}}` }],
    ]);
    expect(list(workspace).map(({ problem, rewards }) => [problem, rewards])).toEqual([
      [null, ['constructor', 'toString']],
      [null, ['r']],
    ]);
    const { rewards, external } = parseDefinition('task.yaml', `${good}\nrewards: {constructor: 1, toString: 2}`);
    expect(sandboxComponents({ rewards, external })).toEqual(['constructor', 'toString']);
  });
});
