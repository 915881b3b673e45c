import { describe, expect, it } from 'vitest';
import { inputError } from '../../../main/errors.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../main/services/workspace/jobs.ts';

const open = () => openJobs(openChanges(), () => 5);

describe('jobs', () => {
  it('reports progress and the end', async () => {
    const jobs = open();
    let finish: (value: string) => void = () => undefined;
    const { id, result } = jobs.start('evaluate', 'Evaluate tiny', async ({ progress }) => {
      progress({ done: 1, total: 2, unit: 'prompts' });
      return new Promise<string>((resolve) => (finish = resolve));
    });
    expect(jobs.list()).toMatchObject([
      { id, title: 'Evaluate tiny', state: 'running', progress: { done: 1, total: 2, unit: 'prompts' }, endedAt: null },
    ]);
    finish('result');
    expect(await result).toBe('result');
    expect(jobs.list()).toMatchObject([{ state: 'done', endedAt: 5 }]);
    expect(jobs.cancel(id)).toBe(false);
  });

  it('keeps the error of a failed one, and treats an abort as a cancellation', async () => {
    const jobs = open();
    const failed = jobs.start('a', 'A', () => Promise.reject(inputError('BAD', 'Expected x, got y', 'Give x.')));
    await expect(failed.result).rejects.toMatchObject({ code: 'BAD' });
    const endless = jobs.start('b', 'B', ({ signal }) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    expect(jobs.cancel(endless.id)).toBe(true);
    await expect(endless.result).rejects.toThrow('aborted');
    expect(jobs.list()).toMatchObject([
      { state: 'cancelled', error: null },
      { state: 'failed', error: { code: 'BAD', message: 'Expected x, got y', remedy: 'Give x.' } },
    ]);
  });

  it('cancels all at the close, and forgets all but the newest', async () => {
    const jobs = open();
    for (let i = 0; i < 30; i++) await jobs.start('a', `Job ${i}`, async () => undefined).result;
    expect(jobs.list()).toHaveLength(20);
    expect(jobs.list()[0]?.title).toBe('Job 29');
    const { result } = jobs.start('b', 'B', ({ signal }) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    result.catch(() => undefined);
    await jobs.close();
    expect(jobs.list()[0]?.state).toBe('cancelled');
  });
});
