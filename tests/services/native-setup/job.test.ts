import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { nativeState, startNativeSetup } from '../../../main/services/native-setup/job.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { type JobStatus, openJobs } from '../../../main/services/workspace/jobs.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { libraries, packageTarball, wheel } from './stand-ins.ts';

const folder = temporaryFolderOfFile();

/** A host, a folder for set-ups, and the published changes. */
function place() {
  const native = mkdtempSync(join(folder, 'native-'));
  const changes = openChanges();
  const topics: string[] = [];
  const jobs = openJobs(changes);
  const steps = new Set<string>();
  changes.listen(({ topic }) => {
    topics.push(topic);
    const step = jobs.list()[0]?.progress?.step;
    if (step !== undefined) steps.add(step);
  });
  const addon = join(native, '../built.node');
  writeFileSync(addon, 'an addon');
  const choice = {
    from: wheel(folder, 'tensorflow_cpu-2.21.0.whl', libraries()),
    package: packageTarball(folder),
    addon,
  };
  const host = { changes, jobs, paths: checkoutPaths(resolve(import.meta.dirname, '../../..')) };
  const ended = async (): Promise<JobStatus | undefined> => {
    await expect.poll(() => jobs.list()[0]?.state).not.toBe('running');
    return jobs.list()[0];
  };
  return { native, host, steps, topics, ended, choice: { ...choice, cpu: true } };
}

const works = { ok: true, facts: { tensorflow: '2.21.0', gpu: false, notes: [] } } as const;

describe.runIf(process.platform === 'linux')('startNativeSetup', () => {
  it('puts a set-up that works in place, step by step, and says so to the pages', async () => {
    const { native, host, choice, steps, topics, ended } = place();
    expect(nativeState(native)).toMatchObject({ folder: native, manifest: null, unsupported: null });
    const tried: string[] = [];
    const tryOut = async (at: string) => {
      tried.push(...readdirSync(join(at, 'current')));
      return works;
    };
    startNativeSetup(host, choice, { folder: native, tryOut });
    expect(await ended()).toMatchObject({ state: 'done', kind: 'native-setup' });
    expect(tried).toEqual(expect.arrayContaining(['manifest.json', 'tensorflow', 'tfjs_binding.node', 'package']));
    expect(nativeState(native).manifest).toMatchObject({ tensorflow: '2.21.0', cuda: false });
    expect([...steps]).toEqual(expect.arrayContaining(['unpacking TensorFlow', 'testing it', 'installing it']));
    expect(topics.at(-1)).toBe('native');
    expect(readdirSync(native)).toEqual(['current']);
  });

  it('rejects a second one meanwhile, and leaves nothing when cancelled', async () => {
    const { native, host, choice, ended } = place();
    const { promise, resolve } = Promise.withResolvers<typeof works>();
    const id = startNativeSetup(host, choice, { folder: native, tryOut: () => promise });
    expect(errorOf(() => startNativeSetup(host, choice, { folder: native }))).toMatchObject({ code: 'SETUP_BUSY' });
    host.jobs.cancel(id);
    resolve(works);
    expect(await ended()).toMatchObject({ state: 'cancelled' });
    expect(nativeState(native).manifest).toBeNull();
    expect(readdirSync(native)).toEqual([]);
  });

  it('keeps what fails in the list of jobs, with what to do', async () => {
    const { native, host, choice, ended } = place();
    const problem = { kind: 'wrong-numbers', detail: 'a 64 x 64 product is off by 3' } as const;
    startNativeSetup(host, choice, { folder: native, tryOut: async () => ({ ok: false, problem }) });
    expect(await ended()).toMatchObject({
      state: 'failed',
      error: { code: 'NATIVE_FAILED', remedy: expect.stringContaining('An existing set-up is unchanged') },
    });
    expect(nativeState(native).manifest).toBeNull();
  });
});
