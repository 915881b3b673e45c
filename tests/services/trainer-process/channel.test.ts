import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { forkTrainer } from '../../../main/services/trainer-process/channel.ts';
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
