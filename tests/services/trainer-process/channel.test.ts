import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { forkTrainer, onceClosed } from '../../../main/services/trainer-process/channel.ts';
import { runTrainerJob } from '../../../main/services/trainer-process/job.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

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

describe('a trainer that cannot start', () => {
  const job = { kind: 'self-check', backend: 'wasm', threads: 1, kernelsFile: 'kernels.wasm' } as const;
  const entry = (code: string): string => {
    const file = join(temporaryFolder(), 'entry.mjs');
    writeFileSync(file, code);
    return file;
  };
  const noProgram = (): string => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, 'no program');
    return file;
  };

  it.each([
    [
      'the program is missing',
      () => forkTrainer('entry.mjs', '/no/such/node'),
      /can't be started: there is no program "\/no\/such\/node" \(ENOENT\)/,
    ],
    ['the program is no program', () => forkTrainer('entry.mjs', noProgram()), /can't be started: .*may run/],
    [
      'its file is missing',
      () => forkTrainer(join(temporaryFolder(), 'none.mjs')),
      /ended with code 1: Error: Cannot find module/,
    ],
    [
      'a module is missing',
      () => forkTrainer(entry("import './none.mjs'")),
      /ended with code 1: Error.*: Cannot find module/,
    ],
    ['it has a syntax error', () => forkTrainer(entry('const = 1')), /ended with code 1: SyntaxError/],
    [
      'it throws as it loads',
      () => forkTrainer(entry("throw new Error('no luck')")),
      /ended with code 1: Error: no luck/,
    ],
    ['it ends', () => forkTrainer(entry('process.exit(3)')), /ended with code 3/],
  ])('says why at once: %s', async (_, launch, why) => {
    const began = performance.now();
    const failure = await runTrainerJob(job, launch()).catch((error: Error) => error);
    expect(failure).toMatchObject({ code: 'TRAINER_DIED', message: expect.stringMatching(why) });
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it.skipIf(process.platform === 'win32')('says so where no file can be opened', () => {
    const script = `
import { openSync } from 'node:fs';
import { forkTrainer } from '${pathToFileURL(resolve('main/services/trainer-process/channel.ts')).href}';
import { describeExit, spawnTrainer } from '${pathToFileURL(resolve('main/services/trainer-process/process.ts')).href}';
try { for (;;) openSync('/dev/null'); } catch {}
const { exited } = spawnTrainer(${JSON.stringify(job)}, { launch: forkTrainer('entry.mjs'), onEvents: () => undefined });
const exit = await exited;
process._rawDebug(describeExit(exit));`;
    const line = `ulimit -n 60; exec "${process.execPath}" "${entry(script)}"`;
    const { stderr } = spawnSync('/bin/sh', ['-c', line], { encoding: 'utf8', timeout: 30_000 });
    expect(stderr).toContain("can't be started: too many files are open in this process (EMFILE)");
  });

  it.skipIf(process.platform !== 'linux')('names a limit of its address space where it ends with a fault', () => {
    const script = `
import { describeExit } from '${pathToFileURL(resolve('main/services/trainer-process/process.ts')).href}';
const exit = { code: null, stderr: '', fault: null, silentForMs: null };
for (const signal of ['SIGSEGV', 'SIGTERM']) process._rawDebug(describeExit({ ...exit, signal }));`;
    const said = (limit: string): string => {
      const line = `${limit} exec "${process.execPath}" "${entry(script)}"`;
      return spawnSync('/bin/sh', ['-c', line], { encoding: 'utf8', timeout: 30_000 }).stderr;
    };
    expect(said('ulimit -v 8388608;')).toBe(
      'The trainer process ended with SIGSEGV (probably out of memory: ulimit -v allows it 8.0 GiB; raise that before resuming)\nThe trainer process ended with SIGTERM\n',
    );
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
