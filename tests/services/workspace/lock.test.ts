import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { lockWorkspace } from '../../../main/services/workspace/lock.ts';
import { processesAtOnce, sourceUrl } from '../../processes-at-once.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

/** A lock of a process on another machine. */
const foreign = JSON.stringify({ pid: 1, hostId: 'elsewhere:1', what: 'other', since: 1 });

/** Sets when a lock was last renewed. */
function setAge(file: string, ms: number): void {
  const at = new Date(Date.now() - ms);
  utimesSync(file, at, at);
}

function ageOf(file: string): number {
  return Date.now() - statSync(file).mtimeMs;
}

describe('lockWorkspace', () => {
  it('names the holder to a second app, which can open it after the release', () => {
    const root = temporaryFolder();
    const lock = lockWorkspace(root, 'braid serve', () => Date.UTC(2026, 0, 2, 3, 4));
    expect(errorOf(() => lockWorkspace(root, 'the desktop app'))).toMatchObject({
      code: 'WORKSPACE_HELD',
      kind: 'input',
      message: `The workspace ${root} is already open in braid serve (process ${process.pid}, since 2026-01-02 03:04 UTC)`,
    });
    lock.release();
    lockWorkspace(root, 'the desktop app').release();
    expect(existsSync(join(root, '.braid-app.json'))).toBe(false);
  });

  it('ignores a killed holder, and a truncated lock file', async () => {
    const root = temporaryFolder();
    const program = `
      import { hostname } from 'node:os';
      import { lockWorkspace } from ${JSON.stringify(new URL('../../../main/services/workspace/lock.ts', import.meta.url).href)};
      lockWorkspace(${JSON.stringify(root)}, 'another');
      console.log('locked');
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], { stdio: 'pipe' });
    await once(child.stdout, 'data');
    expect(() => lockWorkspace(root, 'this')).toThrow(`process ${child.pid}`);
    child.kill('SIGKILL');
    await once(child, 'close');
    lockWorkspace(root, 'this').release();
    writeFileSync(join(root, '.braid-app.json'), '{"pid": 1');
    lockWorkspace(root, 'this').release();
  });

  it('has one holder, however many processes find the lock of a dead one at once', async () => {
    const root = temporaryFolder();
    // Each holder checks that it is alone, then leaves its lock as a crash would.
    const outputs = await processesAtOnce(
      4,
      `
      import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
      import { hostname } from 'node:os';
      import { lockWorkspace } from ${JSON.stringify(sourceUrl('main/services/workspace/lock.ts'))};
      process.chdir(${JSON.stringify(root)});
      const stale = JSON.stringify({ pid: 999999, hostId: hostname() + ':1', what: 'dead', since: 1 });
      let held = 0;
      for (const end = Date.now() + 700; Date.now() < end; ) {
        let lock;
        try {
          lock = lockWorkspace('.', 'a process');
        } catch (error) {
          if (error.code !== 'WORKSPACE_HELD') throw error;
          continue;
        }
        closeSync(openSync('alone', 'wx'));
        held++;
        rmSync('alone');
        writeFileSync('stale-' + process.pid, stale);
        renameSync('stale-' + process.pid, '.braid-app.json');
        lock.release();
      }
      console.log(held);`,
    );
    expect(outputs.reduce((sum, held) => sum + Number(held), 0)).toBeGreaterThan(4);
  });

  it.each([
    'null',
    '7',
    '{}',
    JSON.stringify({ pid: process.pid, hostId: 'x:1', what: 'a program', since: 1e300 }),
    JSON.stringify({ pid: -1, hostId: 7, what: {}, since: 'now' }),
  ])('passes over %s, which no app of ours wrote', (content) => {
    const root = temporaryFolder();
    writeFileSync(join(root, '.braid-app.json'), content);
    lockWorkspace(root, 'a test').release();
    mkdirSync(join(root, '.braid-app.json', 'inner'), { recursive: true });
    lockWorkspace(root, 'a test').release();
    expect(existsSync(join(root, '.braid-app.json'))).toBe(false);
  });

  it("leaves another's lock alone when released late", () => {
    const root = temporaryFolder();
    const lock = lockWorkspace(root, 'first');
    writeFileSync(join(root, '.braid-app.json'), foreign);
    lock.release();
    expect(readFileSync(join(root, '.braid-app.json'), 'utf8')).toBe(foreign);
  });

  it("respects another machine's lock for as long as it is renewed", () => {
    const root = temporaryFolder();
    const file = join(root, '.braid-app.json');
    writeFileSync(file, foreign);
    setAge(file, 60_000);
    expect(() => lockWorkspace(root, 'this')).toThrow('already open in other (process 1');
    setAge(file, 180_000);
    lockWorkspace(root, 'this').release();
  });

  it('renews its own lock until the release, and no other', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const root = temporaryFolder();
    const file = join(root, '.braid-app.json');
    const lock = lockWorkspace(root, 'this');
    setAge(file, 100_000);
    vi.advanceTimersByTime(30_000);
    expect(ageOf(file)).toBeLessThan(10_000);
    writeFileSync(file, foreign);
    setAge(file, 100_000);
    vi.advanceTimersByTime(30_000);
    expect(ageOf(file)).toBeGreaterThan(90_000);
    // A share that is away.
    rmSync(root, { recursive: true });
    vi.advanceTimersByTime(30_000);
    lock.release();
    expect(vi.getTimerCount()).toBe(0);
  });
});
