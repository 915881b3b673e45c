import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildKernels } from '../../main/tensor/kernels/build.ts';
import { lines, taskYaml, writeTask } from '../services/tasks/task-folder.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { braidAt } from './braid.ts';

function world() {
  const home = temporaryFolder();
  const ran = join(home, 'ran');
  const rewards = `rewards: { said: 1, short: 0.5, style: { weight: 1, command: [${JSON.stringify(process.execPath)}, style.mjs] } }`;
  writeTask(join(home, 'ws', 'tasks'), 'say', {
    'task.yaml': taskYaml.replace(/rewards: .*/, rewards),
    'style.mjs': `import { createInterface } from 'node:readline';
import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(ran)}, JSON.stringify(process.env));
for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify({ id: JSON.parse(line).id, score: 0.25 }));
`,
    'records.jsonl': lines({ word: 'hi' }, { word: 'you' }),
  });
  writeFileSync(join(home, 'c.jsonl'), lines({ word: 'hi', completions: ['hi', 'no'] }));
  return { home, ran };
}

describe('braid task allow', () => {
  it('shows what a task runs; without agreement no command uses it, and the refusal says what to do', async () => {
    const { home, ran } = world();
    const shown = await braidAt(home, '', 'task', 'allow', 'say', '--json');
    const [reach] = JSON.parse(shown.stdout).reaches;
    expect(reach).toMatchObject({ component: 'style', kind: 'command', isAllowed: false, host: null });
    const dryRun = ['task', 'dry-run', 'say', '--completions', join(home, 'c.jsonl')];
    const train = ['train', '--task', 'say', '--model', 'tiny', '--steps', '1'];
    for (const args of [dryRun, train]) {
      const refused = await braidAt(home, '', ...args);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('style.mjs');
      expect(refused.stderr).toContain(`--allow-external ${reach.hash}`);
    }
    writeFileSync(join(home, 'ws', 'tasks', 'say', 'examples.jsonl'), lines({ word: 'hi', completion: 'hi' }));
    const checked = JSON.parse((await braidAt(home, '', 'task', 'check', 'say', '--json')).stdout);
    expect(checked.notes).toEqual([
      expect.stringMatching(
        new RegExp(`not scored.*On the command line: \`braid task allow NAME\`, or --allow-external ${reach.hash}`),
      ),
    ]);
    expect((await braidAt(home, '', ...dryRun, '--allow-external', 'f'.repeat(64))).code).toBe(2);
    expect(existsSync(ran)).toBe(false);

    const allowed = await braidAt(home, '', ...dryRun, '--allow-external', reach.hash, '--json');
    expect(JSON.parse(allowed.stdout)).toMatchObject({ n: 2, failures: 0, components: { style: { mean: 0.25 } } });
    expect(existsSync(ran)).toBe(true);
    expect((await braidAt(home, '', ...dryRun)).code).toBe(0);
    await braidAt(home, '', 'task', 'allow', 'say', '--forget');
    expect((await braidAt(home, '', ...dryRun)).code).toBe(2);
  }, 120_000);

  it('lets train run it, with no key in its environment', async () => {
    buildKernels();
    const { home, ran } = world();
    process.env.BRAID_REWARD_KEY = 'k3y';
    const { hash } = JSON.parse((await braidAt(home, '', 'task', 'allow', 'say', '--json')).stdout).reaches[0];
    const settings = ['--set', 'num_generations=2', '--set', 'per_device_train_batch_size=4', '--json'];
    const args = ['train', '--task', 'say', '--model', 'tiny', '--steps', '2', ...settings, '--allow-external', hash];
    const trained = await braidAt(home, '', ...args);
    delete process.env.BRAID_REWARD_KEY;
    expect(trained.code, trained.stderr).toBe(0);
    expect(JSON.parse(trained.stdout)).toMatchObject({ state: 'done', steps: 2 });
    expect(readFileSync(ran, 'utf8')).not.toContain('k3y');
  }, 120_000);
});

describe('braid task key', () => {
  it('keeps the key of an address without showing it', async () => {
    const home = temporaryFolder();
    const kept = await braidAt(home, 's3cret\n', 'task', 'key', 'https://api.example/v1', '--json');
    expect(JSON.parse(kept.stdout)).toEqual({ address: 'https://api.example', kept: true });
    expect(kept.stdout + kept.stderr).not.toContain('s3cret');
    const forgotten = await braidAt(home, '\n', 'task', 'key', 'https://api.example/v1', '--json');
    expect(JSON.parse(forgotten.stdout)).toEqual({ address: 'https://api.example', kept: false });
  });
});
