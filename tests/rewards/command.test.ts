import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCommand } from '../../main/rewards/command.ts';
import { inGroups } from '../../main/tasks/groups.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { answersTo, outcomesOf, specOf } from './answers.ts';

/** A command that does `body` with each line; `line` is the request, `say` answers. */
function command(body: string, more: object = {}) {
  const script = `import { createInterface } from 'node:readline';
const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\\n');
for await (const text of createInterface({ input: process.stdin })) {
  const line = JSON.parse(text);
  ${body}
}`;
  return openCommand(specOf<'command'>({ command: [process.execPath, 'score.mjs'], ...more }), { 'score.mjs': script });
}
const LENGTH = 'say({ id: line.id, score: line.completion.length });';

describe('openCommand', () => {
  it('scores batch after batch in one process, and gives it record, prompt, tokens and finish', async () => {
    const counting = command('globalThis.n = (globalThis.n ?? 0) + 1; say({ id: line.id, score: n });', {
      batch_size: 2,
    });
    expect(await outcomesOf(counting, 'a', 'b', 'c')).toEqual([1, 2, 3]);
    const strict = command(
      "say({ id: line.id, score: line.record.word === 'it' && line.prompt === 'Say it' && line.tokens === 2 && line.finish === 'stop' ? 1 : 0 });",
    );
    expect(await outcomesOf(strict, 'ab')).toEqual([1]);
  });

  it('gives each completion with those of its prompt where it compares them', async () => {
    const ranking = command(
      'say({ id: line.id, score: line.group.filter(({ tokens }) => tokens < line.group[line.place].tokens).length });',
      { group: true },
    );
    const { outcomes } = await ranking.score(inGroups(answersTo('abc', 'a', 'ab', 'a'), (i) => Math.floor(i / 3)));
    await ranking.close();
    expect(outcomes).toEqual([2, 0, 1, 0]);
  });

  it('takes answers out of order', async () => {
    const reversed = command(`globalThis.all = [...(globalThis.all ?? []), line];
  if (all.length === 3) for (const { id, completion } of all.reverse()) say({ id, score: completion.length });`);
    expect(await outcomesOf(reversed, 'a', 'bb', 'ccc')).toEqual([1, 2, 3]);
  });

  it('takes no late second answer for one about another completion of the next batch', async () => {
    const late = command(
      'if (globalThis.last !== undefined) say({ id: last, score: 9 }); globalThis.last = line.id; say({ id: line.id, score: 1 });',
      { batch_size: 1 },
    );
    expect(await outcomesOf(late, 'a', 'b')).toEqual([1, expect.stringContaining('answered an id that was not asked')]);
  });

  it.each([
    ['text', "say({ id: line.id, score: 'good' });", 'expected a finite number as the score, got "good"'],
    ['no score', 'say({ id: line.id });', 'expected a finite number as the score, got none'],
    ['NaN as Python writes it', 'process.stdout.write(\'{"id": \' + line.id + \', "score": NaN}\\n\');', 'got "NaN"'],
    ['-Infinity', 'process.stdout.write(\'{"id": \' + line.id + \', "score": -Infinity}\\n\');', 'got "-Infinity"'],
    ['an error of its own', "say({ id: line.id, error: 'too rude' });", 'too rude'],
  ])('marks a completion that gets %s, and scores the others', async (_, body, reason) => {
    const [bad, good] = await outcomesOf(command(`if (line.id === 0) { ${body} } else { ${LENGTH} }`), 'x', 'yy');
    expect(bad).toContain(reason);
    expect(good).toBe(2);
  });

  it.each([
    [
      'in a text',
      "process.stdout.write(JSON.stringify({ note: 'loss: NaN, \"a\": -Infinity', id: line.id, score: 3 }) + '\\n');",
      3,
    ],
    [
      'beside the score',
      'process.stdout.write(\'{"loss": NaN, "note": "score: NaN", "score": 2, "id": \' + line.id + \'}\\n\');',
      2,
    ],
  ])('reads NaN %s for what it is', async (_, body, score) => {
    expect(await outcomesOf(command(body), 'x')).toEqual([score]);
  });

  it.each([
    ['a line that is not JSON', "process.stdout.write('loading …\\n');", "a line that isn't JSON"],
    [
      'a text without end, of marks that could begin one',
      `process.stdout.write('"' + '\\\\"'.repeat(200_000) + '\\\\\\n');`,
      "a line that isn't JSON",
    ],
    ['an id that was not asked', 'say({ id: 99, score: 1 });', 'answered an id that was not asked'],
    ['an id twice', `${LENGTH} ${LENGTH}`, 'twice'],
    ['an endless line', "process.stdout.write('x'.repeat(2 ** 20 + 70000));", 'a line of more than 1 MiB'],
  ])('ends a command that writes %s', async (_, body, reason) => {
    const outcomes = await outcomesOf(command(body), 'a', 'b');
    expect(outcomes.at(-1)).toContain(reason);
  });

  it('restarts a command that dies over one completion, for those after it', async () => {
    const dying = command(`if (line.completion === 'die' && line.id === 1) process.exit(3); ${LENGTH}`, {
      batch_size: 2,
    });
    const outcomes = await outcomesOf(dying, 'a', 'die', 'ccc', 'd');
    expect(outcomes).toEqual([1, 'the command ended with code 3', 3, 1]);
  });

  it('says what a file of functions alone lacks', async () => {
    const component = openCommand(specOf<'command'>({ command: [process.execPath, 'functions.mjs'] }), {
      'functions.mjs': 'export const reward = () => 1;',
    });
    expect(await outcomesOf(component, 'a')).toEqual([
      'the command ended with code 0. It has to read completions as lines and answer each; the template python-functions calls the functions of a file',
    ]);
  });

  it('tells what a command that dies wrote to its error output', async () => {
    const [outcome] = await outcomesOf(command("console.error('no such model'); process.exit(1);"), 'a');
    expect(outcome).toBe('the command ended with code 1: no such model');
  });

  it('ends a command that hangs, with all that it started', async () => {
    const folder = temporaryFolder();
    const body = `const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  (await import('node:fs')).writeFileSync(${JSON.stringify(join(folder, 'pid'))}, String(child.pid));
  await new Promise(() => {});`;
    // Enough for a busy machine to start two programs.
    const [outcome] = await outcomesOf(command(body, { timeout_s: 6 }), 'a');
    expect(outcome).toBe('the command gave no answer within 6 s');
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    await until(() => !isAlive(pid));
  });

  it('says that a program is not there', async () => {
    const component = openCommand(specOf<'command'>({ command: ['no-such-program-of-mine'] }), {});
    expect(await outcomesOf(component, 'a')).toEqual([
      'the command can\'t be started: there is no program "no-such-program-of-mine" (ENOENT)',
    ]);
  });

  it('runs with the files that it names and no others, in a folder that goes', async () => {
    const folder = temporaryFolder();
    const spec = specOf<'command'>({ command: [process.execPath, 'score.mjs'], files: ['lib/words.txt'] });
    const script = `import { createInterface } from 'node:readline';
import { readdirSync, writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(join(folder, 'cwd'))}, process.cwd());
for await (const text of createInterface({ input: process.stdin }))
  process.stdout.write(JSON.stringify({ id: JSON.parse(text).id, score: readdirSync('.', { recursive: true }).length }) + '\\n');`;
    const component = openCommand(spec, { 'score.mjs': script, 'lib/words.txt': 'a', 'secret.txt': 'b' });
    expect((await component.score(answersTo('a'))).outcomes).toEqual([3]);
    const cwd = readFileSync(join(folder, 'cwd'), 'utf8');
    expect(existsSync(cwd)).toBe(true);
    await component.close();
    expect(existsSync(cwd)).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
