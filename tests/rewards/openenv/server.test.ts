import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openServer } from '../../../main/rewards/openenv/server.ts';
import { checkOpenEnv } from '../../../main/tasks/openenv/spec.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';

/** Serves pages on the port, with a child that sleeps; both ids go into the file. */
const SERVES = `const { spawn } = require('node:child_process');
const [port, file] = process.argv.slice(1);
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
require('node:http').createServer((_, response) => response.end('{}')).listen(port, '127.0.0.1', () =>
  require('node:fs').writeFileSync(file, process.pid + ' ' + child.pid));`;

function specOf(pids: string) {
  const command = [process.execPath, '-e', SERVES, '{port}', pids];
  const { spec } = checkOpenEnv({ openenv: 'ws://127.0.0.1:{port}', command, action: '{completion:json}' }, {});
  if (spec === null) throw new Error('Expected a server');
  return spec;
}

const alive = (file: string): number =>
  readFileSync(file, 'utf8')
    .split(' ')
    .filter((pid) => {
      try {
        return process.kill(Number(pid), 0);
      } catch {
        return false;
      }
    }).length;

describe('openServer', () => {
  it('starts it once, on a free port, and ends it with its children', async () => {
    const file = join(temporaryFolder(), 'pids');
    const server = openServer(specOf(file), {});
    const [first, second] = await Promise.all([server.address(), server.address()]);
    expect(first).toBe(second);
    expect(first).toMatchObject({ socket: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/ws$/) });
    expect(alive(file)).toBe(2);
    await server.close();
    await until(() => alive(file) === 0);
  });

  it.skipIf(process.platform === 'win32')('has it end with a process that is killed', async () => {
    const file = join(temporaryFolder(), 'pids');
    const entry = resolve(import.meta.dirname, '../../../main/rewards/openenv/server.ts');
    const script = `import { openServer } from ${JSON.stringify(entry)};
await openServer(${JSON.stringify(specOf(file))}, {}).address();
setInterval(() => {}, 1000);`;
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
    expect(alive(file)).toBe(2);
    host.kill('SIGKILL');
    await until(() => alive(file) === 0);
  });
});
