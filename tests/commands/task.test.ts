/** The whole way of a stranger with a task of their own, as separate processes. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildKernels } from '../../main/tensor/kernels/build.ts';
import { lines } from '../services/tasks/task-folder.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { tinyRecord, writeTinyModel } from '../tiny-model.ts';
import { braid } from './braid.ts';

const folder = temporaryFolderOfFile();
const place = (name: string): string => join(folder, name);
const run = (...args: string[]) => braid([...args, '--workspace', place('workspace')]);
const jsonOf = async (...args: string[]) => {
  const { code, stdout, stderr } = await run(...args, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

beforeAll(async () => {
  buildKernels();
  await writeTinyModel(place('model'));
  const records = ['one', 'two', 'three', 'four'].map((id, i) => {
    const { fragment_a: first, fragment_b: second } = tinyRecord(id, 2, i);
    return { id, first, second };
  });
  writeFileSync(place('records.jsonl'), lines(...records));
  writeFileSync(place('records.test.jsonl'), lines(...records.slice(0, 2)));
  writeFileSync(
    place('completions.jsonl'),
    lines(
      ...records.map((record) => ({ record, completions: [record.second, `${record.second} ${record.first}`, ''] })),
    ),
  );
});

describe('braid task', () => {
  // Seven processes, one after the other.
  it('leads from a template to a run, its evaluation and a second version of the reward', async () => {
    const made = await jsonOf('task', 'new', 'mine', '--template', 'second-text');
    expect(made).toEqual({ task: 'mine', template: 'second-text', folder: join(place('workspace'), 'tasks', 'mine') });
    expect(await jsonOf('task', 'check', made.folder)).toMatchObject({ ok: true, task: 'mine', faults: [] });
    expect(await jsonOf('task', 'dry-run', 'mine', '--completions', place('completions.jsonl'))).toMatchObject({
      n: 12,
      mean: 0.5,
      dead_groups: 0,
      failures: 0,
      groups: 4,
    });

    const settings = ['--set', 'num_generations=4', '--set', 'per_device_train_batch_size=8', '--threads', '1'];
    const trained = await jsonOf(
      ...['train', '--task', 'mine', '--model', place('model'), '--dataset', place('records.jsonl'), '--steps', '2'],
      ...settings,
    );
    expect(trained).toMatchObject({ state: 'done', steps: 2 });
    expect(existsSync(join(trained.folder, 'tasks/mine/reward.ts'))).toBe(true);
    expect(readFileSync(join(trained.folder, 'run.yaml'), 'utf8')).toContain('task: mine\n');

    // A configuration that names no dataset still trains on the task's records.
    writeFileSync(place('own.yaml'), `model: ${place('model')}\nlearning_rate: 0.001\n`);
    const ready = await run('train', '--task', 'mine', '--config', place('own.yaml'), '--checklist');
    expect(ready.stdout).toMatch(/^\[x\] .*tasks\/mine\/records\.jsonl/m);

    // The folder changes; the run and its checkpoint keep the text that they were made with.
    writeFileSync(join(made.folder, 'reward.ts'), 'export const reward = ({ tokens }) => tokens;\n');
    const evaluated = await jsonOf('evaluate', '--model', trained.checkpoint, '--dataset', place('records.test.jsonl'));
    expect(evaluated).toMatchObject({ task: 'mine', n: 2, success_rate: expect.any(Number) });
    expect(evaluated.mean_reward).toBeLessThanOrEqual(1);
    const rescored = await jsonOf('task', 'rescore', '--run', String(trained.run_id), '--task', 'mine');
    expect(rescored).toMatchObject({ run_id: trained.run_id, n: 16, failures: 0 });
    expect(rescored.after).toBeGreaterThan(1);
    const resumed = await jsonOf('train', '--resume', trained.checkpoint, '--steps', '3');
    expect(resumed).toMatchObject({ run_id: trained.run_id, state: 'done', steps: 3 });
  }, 180_000);

  it('says what is wrong, where, and what may have been meant, with exit code 2', async () => {
    const { folder: broken } = await jsonOf('task', 'new', 'broken');
    const file = join(broken, 'task.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('{question}', '{qestion}'));
    const [checked, unknown, template, missing, native] = await Promise.all([
      run('task', 'check', 'broken'),
      run('train', '--task', 'brokn'),
      run('task', 'new', 'x', '--template', 'exact-mtch'),
      run('task', 'dry-run', 'last-number', '--completions', place('none.jsonl')),
      run('task', 'check', 'reply'),
    ]);
    expect([checked, unknown, template, missing, native].map((one) => one?.code)).toEqual([2, 2, 2, 2, 2]);
    expect(checked?.stdout).toMatch(/task\.yaml, line 8: "prompt" names \{qestion\}.*did you mean "question"\?/);
    expect(unknown?.stderr).toContain('There is no task "brokn"; did you mean "broken"?');
    expect(template?.stderr).toContain('did you mean "exact-match"?');
    expect(missing?.stderr).toContain('none.jsonl: the file does not exist');
    expect(native?.stderr).toContain('"reply" is one of Braid\'s own tasks');
  });
});
