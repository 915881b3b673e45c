import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

const entries = resolve(import.meta.dirname, '../../../main/trainer/process');

/** Says that it is alive, as soon as the entry that it is loaded with listens; a channel that closes meanwhile is no error. */
const pulse = `setInterval(() => process.listenerCount('message') > 0 && process.send('alive', () => {}), 20)`;

function launch(entry: string): ChildProcess {
  const execArgv = ['--import', `data:text/javascript,${encodeURIComponent(pulse)}`];
  const child = fork(join(entries, entry), {
    execArgv,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 2, 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** As `systemctl stop`, `scancel` and a closed terminal do: the host gets the same signal and asks for a checkpoint. */
describe.skipIf(process.platform === 'win32').each(['entry.ts', 'reward-process.ts'])('%s', (entry) => {
  it.each(['SIGINT', 'SIGHUP', 'SIGTERM'] as const)("isn't ended by a %s that every process gets", async (signal) => {
    const child = launch(entry);
    await once(child, 'message');
    const exited = once(child, 'exit').then(([code, by]) => `ended with ${by ?? code}`);
    child.kill(signal);
    // What was sent before the signal may be received after it.
    for (let heard = 0; heard < 5; heard += 1)
      expect(await Promise.race([once(child, 'message'), exited])).toEqual(['alive', undefined]);
  });

  it('ends by itself when its host is gone', async () => {
    const child = launch(entry);
    await once(child, 'message');
    child.kill('SIGTERM');
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  });
});
