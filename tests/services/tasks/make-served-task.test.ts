import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { allowServer } from '../../../main/services/reward-trials/server-consent.ts';
import { allowReaches, openConsentFile, reachesOf } from '../../../main/services/tasks/consent.ts';
import { readServer, servedTask } from '../../../main/services/tasks/make-served-task.ts';
import { newTask } from '../../../main/services/tasks/new-task.ts';
import { type ServerAccess, serverAccess, serverSource } from '../../../main/services/tasks/server-choice.ts';
import { openFolderTask } from '../../../main/tasks/folder/folder-task.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import { processPaths } from '../../processes/paths.ts';
import { agreedTo, DOUBLE } from '../../tasks/openenv/served-task.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const paths = processPaths();

/** The address of a running double. */
async function running(...more: readonly string[]): Promise<string> {
  const server = spawn(process.execPath, [DOUBLE, '0', ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void server.kill('SIGKILL'));
  const [line] = await once(server.stdout, 'data');
  return String(line).trim();
}

const make = (settings: Readonly<Record<string, string>>): Promise<string> =>
  newTask('game', 'openenv', { workspace: temporaryFolder(), paths }, settings);
const linesOf = (folder: string, file: string): unknown[] =>
  readFileSync(join(folder, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('newTask from the template openenv', () => {
  it('copies the server of the template without settings', async () => {
    const folder = await make({});
    expect(existsSync(join(folder, 'server.py'))).toBe(true);
    expect(existsSync(join(folder, 'template.yaml'))).toBe(false);
    const other = await make({ python: 'python3.12' });
    expect(readFileSync(join(other, 'task.yaml'), 'utf8')).toContain('command: ["python3.12", server.py');
  });

  it('makes the forms of a server’s schemas, and the records of how its episodes begin', async () => {
    const folder = await make({ url: await running(), size: '3', test_size: '2', seed: '5' });
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

  it('lets each completion read its own beginning where two resets with one seed began differently', async () => {
    const folder = await make({ url: await running('take'), size: '1', test_size: '1' });
    expect(readFileSync(join(folder, 'task.yaml'), 'utf8')).toMatch(
      /# Two resets with the same seed.*\n {2}opens: true\n/,
    );
    expect(linesOf(folder, 'records.jsonl')).toEqual([{ id: 'seed-42', seed: 42 }]);
  });

  it.each([
    [{ url: 'ws://127.0.0.1:9' }, 'RECORDS_NOT_MADE', "can't be reached"],
    [{ url: 'ws://games.example' }, 'BAD_OPTION', 'plain http on another machine'],
    [{ url: 'ws://127.0.0.1:9', family: 'x' }, 'BAD_OPTION', 'no setting "family"'],
    [{ url: 'ws://127.0.0.1:9', size: '1.5' }, 'BAD_OPTION', 'Expected size'],
    [{ size: '3' }, 'BAD_OPTION', 'Expected an address'],
    [{ start: 'no-such-program' }, 'RECORDS_NOT_MADE', "can't be started"],
  ])('says why there is no task: %j', async (settings, code, why) => {
    await expect(make(settings)).rejects.toMatchObject({ code, message: expect.stringContaining(why) });
  });
});

describe('readServer', () => {
  const ask = { address: '', start: `"${process.execPath}" "${DOUBLE}" {port}` };
  const worker = paths.externalRewards;
  const consents = () => openConsentFile(join(temporaryFolder(), 'allowed.json'));
  const allowed = (): ServerAccess => {
    const trust = { consents: consents(), secrets: { get: () => null } };
    const [reach] = reachesOf(serverSource(ask), trust.consents);
    allowReaches(serverSource(ask), [reach?.hash ?? ''], trust.consents);
    return serverAccess(ask, worker, trust);
  };

  it('reports what a server that it starts declares, and how an episode begins by a message', async () => {
    const offer = await readServer(ask, allowed(), 'Hint: {hint}');
    expect(offer).toMatchObject({
      name: 'guessing',
      description: 'Guess a number.',
      actions: [
        { name: 'guess', type: 'integer', isRequired: true, about: null },
        { name: 'said', type: 'string', isRequired: false, about: null },
      ],
      observations: [{ name: 'hint', type: 'string' }],
      action: { guess: '{completion:last-number}' },
      message: 'Hint: {hint}',
      beginning: 'Hint: A number from 0 to 9, game 42',
      isFixed: true,
    });
  });

  it('becomes a task by the forms that were filled in, values in the type of their field', async () => {
    const forms = { action: { guess: '3', said: '{completion:trim}' }, message: '{hint}' };
    const { definition, records, heldOut } = await servedTask(ask, allowed(), forms, { size: 2, test_size: 1 });
    expect(definition).toMatch(/action:\n +guess: 3\n +said: "\{completion:trim\}"/);
    expect(definition).toContain('{port}');
    expect([records.length, heldOut.length]).toEqual([2, 1]);
    const wrong = servedTask(ask, allowed(), { ...forms, action: { guess: '{completion}', sad: 'x' } });
    await expect(wrong).rejects.toMatchObject({ code: 'BAD_SERVER_FORM', message: expect.stringContaining('"sad"') });
  });

  it('asks nothing that the user has not agreed to, and says what agrees where there is no window', async () => {
    const trust = { consents: consents(), secrets: { get: () => null } };
    expect(() => serverAccess(ask, worker, trust)).toThrow("haven't agreed");
    await expect(allowServer(trust, ask, null)).rejects.toMatchObject({
      code: 'REWARD_NOT_ALLOWED',
      remedy: expect.stringMatching(
        /^Run: braid task allow ['"]ws:\/\/127.0.0.1:\{port\}['"] --start '.*' [0-9a-f]{64}$/,
      ),
    });
    expect(await allowServer(trust, ask, async () => false)).toBe(false);
    const asked: string[] = [];
    const agrees = async ({ detail }: { readonly detail: string }) => asked.push(detail) > 0;
    expect(await allowServer(trust, ask, agrees)).toBe(true);
    expect(await allowServer(trust, ask, agrees)).toBe(true);
    expect(asked).toEqual([expect.stringContaining('runs the command')]);
    expect(serverAccess(ask, worker, trust).allowed).toHaveLength(1);
  });
});
