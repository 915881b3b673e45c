/**
 * Trains on tasks of other packages and prints the held-out reward before and after:
 *   node scripts/checks/environments.ts FOLDER --model DIR --python PYTHON [--only openenv,echo,sums,syllogism,verifiers]
 * PYTHON has openenv-core==0.3.0, reasoning-gym==0.1.25 and verifiers==0.4.0; DIR is SmolLM2-135M-Instruct. `openenv` is
 * the bundled game, `echo` the environment that `openenv init` writes, with place for 64 sessions.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { model: { type: 'string' }, python: { type: 'string', default: 'python3' }, only: { type: 'string' } },
});
const [given] = positionals;
if (given === undefined) throw new Error('Expected a folder for the workspace');
const workspace = resolve(given);
mkdirSync(workspace, { recursive: true });
const root = resolve(import.meta.dirname, '../..');
const PORT = 8765;

function braid(...args: readonly string[]): string {
  const whole = [join(root, 'main/braid.ts'), ...args, '--workspace', workspace, '--json'];
  return execFileSync(process.execPath, whole, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

const onTiny = { model: 'tiny', use_peft: false, learning_rate: 2e-4, num_generations: 8, max_completion_length: 48 };
const onSmall = { model: options.model ?? '', learning_rate: 2e-4, num_generations: 8, max_completion_length: 20 };
const brief = { ...onSmall, system_prompt: 'Write only the final answer, between <answer> and </answer>.' };
const sum = ['family=chain_sum', 'min_terms=2', 'max_terms=2', 'min_digits=1', 'max_digits=1', 'size=120'];

/** By name: the template, its settings, and the run's own settings (null: those of the template). */
const checks = {
  openenv: ['openenv', [], null],
  echo: ['openenv', [`url=ws://127.0.0.1:${PORT}`, 'size=40', 'test_size=8', 'max_turns=2'], { ...onTiny, steps: 16 }],
  sums: ['reasoning-gym', sum, { ...brief, steps: 40 }],
  syllogism: ['reasoning-gym', ['family=syllogism', 'size=200'], { ...brief, max_completion_length: 12, steps: 24 }],
  verifiers: ['verifiers', ['environment=second_text', 'words=5', 'size=100'], { ...onSmall, steps: 16 }],
} as const;

async function echoServer() {
  const python = resolve(dirname(options.python), 'openenv');
  execFileSync(python, ['init', 'echo_env', '--output-dir', workspace], { stdio: 'ignore' });
  const app = join(workspace, 'echo_env/server/app.py');
  writeFileSync(app, readFileSync(app, 'utf8').replace('max_concurrent_envs=1', 'max_concurrent_envs=64'));
  const served = ['-m', 'uvicorn', 'server.app:app', '--port', String(PORT), '--log-level', 'warning'];
  const server = spawn(options.python, served, { cwd: join(workspace, 'echo_env'), stdio: 'inherit' });
  while (!(await fetch(`http://127.0.0.1:${PORT}/health`).catch(() => null))) await sleep(500);
  return server;
}

const only = options.only?.split(',');
for (const [name, [template, settings, run]] of Object.entries(checks)) {
  if (only !== undefined && !only.includes(name)) continue;
  const server = name === 'echo' ? await echoServer() : null;
  try {
    braid('task', 'new', name, '--template', template, '--set', `python=${options.python}`, ...settings);
    const { reaches } = JSON.parse(braid('task', 'allow', name)) as { reaches: readonly { hash: string }[] };
    const allowed = ['--allow-external', ...reaches.map(({ hash }) => hash)];
    const config = join(workspace, `${name}.yaml`);
    if (run !== null) {
      const { steps, ...own } = run;
      const all = {
        method: 'grpo',
        ...own,
        max_steps: steps,
        eval_steps: steps,
        per_device_train_batch_size: 32,
        beta: 0,
      };
      writeFileSync(config, JSON.stringify(all));
    }
    const trained = braid('train', '--task', name, ...allowed, ...(run === null ? [] : ['--config', config]));
    const { standing } = JSON.parse(trained) as { standing: { baseline: number; newest: { mean: number } } };
    console.log(`${name}: ${standing.baseline.toFixed(3)} → ${standing.newest.mean.toFixed(3)}`);
  } finally {
    server?.kill();
  }
}
