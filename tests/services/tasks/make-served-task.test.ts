import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newTask } from '../../../main/services/tasks/new-task.ts';
import { openFolderTask } from '../../../main/tasks/folder/folder-task.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import { errorOf, temporaryFolder } from '../../store/helpers.ts';
import { agreedTo, DOUBLE } from '../../tasks/openenv/served-task.ts';

const root = resolve(import.meta.dirname, '../../..');
const paths = { resources: join(root, 'resources'), externalRewards: join(root, 'main/rewards/worker.ts') };

/** The address of a running double. */
async function running(...more: readonly string[]): Promise<string> {
  const server = spawn(process.execPath, [DOUBLE, '0', ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void server.kill('SIGKILL'));
  const [line] = await once(server.stdout, 'data');
  return String(line).trim();
}

const make = (settings: Readonly<Record<string, string>>): string =>
  newTask('game', 'openenv', { workspace: temporaryFolder(), paths }, settings);
const linesOf = (folder: string, file: string): unknown[] =>
  readFileSync(join(folder, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('newTask from the template openenv', () => {
  it('copies the server of the template without settings', () => {
    const folder = make({});
    expect(existsSync(join(folder, 'server.py'))).toBe(true);
    expect(existsSync(join(folder, 'template.yaml'))).toBe(false);
    const other = make({ python: 'python3.12' });
    expect(readFileSync(join(other, 'task.yaml'), 'utf8')).toContain('command: ["python3.12", server.py');
  });

  it('makes the forms of a server’s schemas, and the records of how its episodes begin', async () => {
    const folder = make({ url: await running(), size: '3', test_size: '2', seed: '5' });
    expect(readdirSync(folder).sort()).toEqual(['braid.d.ts', 'records.jsonl', 'records.test.jsonl', 'task.yaml']);
    expect(linesOf(folder, 'records.jsonl')).toEqual(
      [5, 6, 7].map((seed) => ({ id: `seed-${seed}`, seed, start: `A number from 0 to 9, game ${seed}` })),
    );
    expect(linesOf(folder, 'records.test.jsonl')).toHaveLength(2);
    const source = readTaskFolder(folder);
    expect(source.definition).toContain("# The server's actions: guess (integer, required); said (string)\n");
    expect(source.definition).toMatch(/^title: guessing\n[\s\S]*action:\n +guess: "\{completion:last-number\}"/);
    expect(source.definition).toContain('Guess a number.');
    const task = openFolderTask(source, '', agreedTo(source));
    onTestFinished(task.close);
    const record = task.parseRecord(linesOf(folder, 'records.jsonl')[2]);
    expect(record.prompt).toMatch(/\(integer, required\)\n\nA number from 0 to 9, game 7$/);
    expect(task.environment?.examine?.(record)).toEqual({ faults: [], notes: [] });
    expect(
      task.environment?.step([
        { record, messages: [{ role: 'assistant', content: '7' }], turn: 1, finish: 'stop', state: null },
      ]),
    ).toMatchObject([{ done: true, rewards: { reward: 1 } }]);
  });

  it('shows no beginning in the prompt where two resets with one seed began differently', async () => {
    const folder = make({ url: await running('take'), size: '1', test_size: '1' });
    expect(readFileSync(join(folder, 'task.yaml'), 'utf8')).toMatch(
      /prompt: Begin\.[\s\S]*# Two resets with the same seed/,
    );
    expect(linesOf(folder, 'records.jsonl')).toEqual([{ id: 'seed-42', seed: 42 }]);
  });

  it.each([
    [{ url: 'ws://127.0.0.1:9' }, 'RECORDS_NOT_MADE', "can't be reached"],
    [{ url: 'ws://games.example' }, 'BAD_OPTION', 'plain http on another machine'],
    [{ url: 'ws://127.0.0.1:9', family: 'x' }, 'BAD_OPTION', 'no setting "family"'],
    [{ url: 'ws://127.0.0.1:9', size: '1.5' }, 'BAD_OPTION', 'Expected size'],
    [{ size: '3' }, 'BAD_OPTION', 'Expected an address'],
  ])('says why there is no task: %j', (settings, code, why) => {
    expect(errorOf(() => make(settings))).toMatchObject({ code, message: expect.stringContaining(why) });
  });
});
