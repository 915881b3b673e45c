import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const file = JSON.stringify(join(import.meta.dirname, '../../main/commands/interrupt.ts'));

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
