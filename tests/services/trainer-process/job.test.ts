import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forkTrainer, type LaunchTrainer } from '../../../main/services/trainer-process/channel.ts';
import { runTrainerJob } from '../../../main/services/trainer-process/job.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';

const folder = temporaryFolderOfFile();

const job = { kind: 'self-check', backend: 'wasm', threads: 1, kernelsFile: 'kernels.wasm' } as const;

/** A stand-in for the trainer's entry file. */
function entry(body: string): LaunchTrainer {
  const file = join(folder, `entry-${Math.random().toString(36).slice(2)}.mjs`);
  writeFileSync(file, body);
  return forkTrainer(file);
}

describe('runTrainerJob', () => {
  it('says how a trainer died, with its last stderr output', async () => {
    const dying = entry(`process.on('message', () => { console.error('out of memory'); process.exit(3); });`);
    await expect(runTrainerJob(job, dying)).rejects.toMatchObject({
      code: 'TRAINER_DIED',
      message: 'The trainer process ended with code 3: out of memory',
    });
  });

  it('passes on progress, what speaks against the backend, and the result, and keeps the kind of a failure', async () => {
    const ready = `{ kind: 'ready', backend: 'wasm', threads: 1, why: '', warning: 'it is slow' }`;
    const working = entry(`process.on('message', () => process.send([${ready}, { kind: 'progress', done: 1, total: 2,
      unit: 'steps' }, { kind: 'result', value: { error: 0, gflops: 1 } }], () => process.disconnect()));`);
    const seen: number[] = [];
    const warnings: string[] = [];
    const outcome = await runTrainerJob(job, working, {
      onProgress: ({ done }) => seen.push(done),
      onWarning: (warning) => warnings.push(warning),
    });
    expect(warnings).toEqual(['it is slow']);
    expect(outcome).toEqual({ value: { error: 0, gflops: 1 }, backend: 'wasm', threads: 1, why: '' });
    expect(seen).toEqual([1]);
    const failing =
      entry(`process.on('message', () => process.send([${ready}, { kind: 'failed', code: 'X', message: 'bad',
      remedy: 'fix', input: true }], () => process.disconnect()));`);
    await expect(runTrainerJob(job, failing)).rejects.toMatchObject({ code: 'X', kind: 'input', remedy: 'fix' });
  });

  it('ends a process that says nothing, but none that says that it works', async () => {
    const hung = entry(`process.on('message', () => { for (;;); });`);
    await expect(runTrainerJob(job, hung, { silenceMs: 1500 })).rejects.toMatchObject({
      code: 'TRAINER_DIED',
      message: expect.stringContaining('hung: it was silent for 2 s'),
    });
    const busy = entry(`process.on('message', () => {
      const beat = setInterval(() => process.send([{ kind: 'alive' }]), 300);
      setTimeout(() => { clearInterval(beat); process.disconnect(); process.exitCode = 7; }, 4000); });`);
    await expect(runTrainerJob(job, busy, { silenceMs: 3000 })).rejects.toMatchObject({
      message: expect.stringContaining('ended with code 7'),
    });
  });

  it('ends a process that has said all and does not exit', async () => {
    const lingering = entry(`process.on('message', () => {
      process.send([{ kind: 'ready', backend: 'wasm', threads: 1, why: '' },
        { kind: 'result', value: { error: 0, gflops: 1 } }], () => process.disconnect());
      setInterval(() => undefined, 1000); });`);
    await expect(runTrainerJob(job, lingering)).resolves.toMatchObject({ value: { gflops: 1 } });
  });

  it('ends the process on cancel', async () => {
    const idle = entry(`process.on('message', () => undefined);`);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    await expect(runTrainerJob(job, idle, { signal: controller.signal })).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
  });
});
