import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { forkTrainer, onceClosed } from '../../../main/services/trainer-process/channel.ts';
import { temporaryFolder } from '../../store/helpers.ts';

/** What a process that is launched with these variables finds in its environment. */
async function environmentOf(env?: Readonly<Record<string, string>>): Promise<NodeJS.ProcessEnv> {
  const entry = join(temporaryFolder(), 'entry.mjs');
  writeFileSync(entry, 'process.send(process.env, () => process.disconnect());');
  const channel = forkTrainer(entry)(env);
  return new Promise((settle, fail) => {
    channel.onMessage((message) => settle(message as NodeJS.ProcessEnv));
    channel.onExit((code) => fail(new Error(`Expected its environment, got exit code ${code}`)));
  });
}

afterEach(() => vi.unstubAllEnvs());

describe('forkTrainer', () => {
  it('adds variables to those of the host', async () => {
    vi.stubEnv('BRAID_OF_THE_HOST', 'kept');
    expect(await environmentOf({ BRAID_OF_THE_JOB: 'given' })).toMatchObject({
      BRAID_OF_THE_HOST: 'kept',
      BRAID_OF_THE_JOB: 'given',
    });
  });

  it('has malloc ask for large pages, unless the user tunes it', async () => {
    vi.stubEnv('GLIBC_TUNABLES', undefined);
    expect((await environmentOf()).GLIBC_TUNABLES).toContain('glibc.malloc.hugetlb=1');
    vi.stubEnv('GLIBC_TUNABLES', 'glibc.malloc.check=1');
    expect((await environmentOf({ BRAID_OF_THE_JOB: 'given' })).GLIBC_TUNABLES).toBe('glibc.malloc.check=1');
  });
});

describe('onceClosed', () => {
  /** A process that says one thing on its channel, another on stderr, and waits. */
  function waiting() {
    const entry = join(temporaryFolder(), 'entry.mjs');
    writeFileSync(entry, "console.error('last words'); process.send('ready'); setInterval(() => {}, 1000);");
    return fork(entry, [], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  }

  it.each([
    ['is killed', false],
    // Node emits no 'close' then.
    ['was disconnected and is killed', true],
  ])('calls once, after stderr was read, when the process %s', async (_, disconnects) => {
    const child = waiting();
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const calls: unknown[] = [];
    const closed = new Promise<void>((resolve) =>
      onceClosed(child, (code, signal) => {
        calls.push([code, signal, stderr]);
        resolve();
      }),
    );
    await once(child, 'message');
    if (disconnects) child.disconnect();
    child.kill('SIGKILL');
    await closed;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(calls).toEqual([[null, 'SIGKILL', 'last words\n']]);
  });
});
