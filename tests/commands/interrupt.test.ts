import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTaskFolder } from '../../main/tasks/folder/source.ts';
import { lines, taskYaml, writeTask } from '../services/tasks/task-folder.ts';
import { agreedTo } from '../tasks/openenv/served-task.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startBraid } from './braid.ts';

const file = JSON.stringify(new URL('../../main/commands/interrupt.ts', import.meta.url));

/** Runs a module that says when it is ready and sends it SIGINT then. */
function interrupted(more: string): Promise<{ code: number | null; signal: string | null; stderr: string }> {
  const script = `import { exitOnInterrupt } from ${file}; exitOnInterrupt(); ${more}
    setInterval(() => {}, 1000); console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdout.once('data', () => child.kill('SIGINT'));
  return new Promise((done) => child.on('close', (code, signal) => done({ code, signal, stderr })));
}

describe('exitOnInterrupt', () => {
  it('ends with 130 while no command listens yet', async () => {
    expect(await interrupted('')).toEqual({ code: 130, signal: null, stderr: '\nInterrupted.\n' });
  });

  it('leaves it to a command that listens', async () => {
    const listens = "process.on('SIGINT', () => process.exit(7));";
    expect(await interrupted(listens)).toEqual({ code: 7, signal: null, stderr: '' });
  });
});

describe('endAtInterrupt', () => {
  it('ends a command that waits for a reward', async () => {
    const home = temporaryFolder();
    const asked = join(home, 'asked');
    const rewards = `rewards: { style: { weight: 1, timeout_s: 8, command: [${JSON.stringify(process.execPath)}, style.mjs] } }`;
    const folder = writeTask(home, 'say', {
      'task.yaml': taskYaml.replace(/rewards: .*/, rewards).replace('check: loud\n', ''),
      'style.mjs': `import { writeFileSync } from 'node:fs';
process.stdin.once('data', () => writeFileSync(${JSON.stringify(asked)}, ''));
`,
    });
    writeFileSync(join(home, 'c.jsonl'), lines({ word: 'hi', completion: 'hi' }));
    const [hash = ''] = agreedTo(readTaskFolder(folder)).allowed;
    const options = ['--completions', join(home, 'c.jsonl'), '--workspace', home, '--allow-external', hash];
    const command = startBraid(['task', 'dry-run', folder, ...options]);
    await until(() => existsSync(asked));
    command.kill('SIGINT');
    // By the signal itself, before the reward's time is over.
    expect(await command.ended).toEqual({ code: null, stdout: '', stderr: '' });
  });
});
