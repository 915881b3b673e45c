import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTextWorkers } from '../../../main/services/text-worker/workers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { madeTexts } from '../texts/made-texts.ts';

const entry = resolve(import.meta.dirname, '../../../main/services/text-worker/worker.ts');
const overviewInput = { texts: madeTexts(20, 30), pairs: { train: 4, test: 2 }, seed: 1 };

function workers(file = entry) {
  const opened = openTextWorkers(file);
  onTestFinished(() => opened.close());
  return opened;
}

/** A thread that does not what ours does. */
function otherEntry(body: string): string {
  const file = join(temporaryFolder(), 'worker.mjs');
  writeFileSync(file, `import { parentPort } from 'node:worker_threads';\n${body}`);
  return file;
}

describe('run', () => {
  it('gives the result, one task after the other and several at once', async () => {
    const { run } = workers();
    expect(await run('overview', overviewInput)).toMatchObject({ texts: 2, lengths: [20, 30] });
    const both = await Promise.all([run('overview', overviewInput), run('overview', overviewInput)]);
    expect(both.map(({ words }) => words)).toEqual([50, 50]);
  });

  it('passes on typed errors', async () => {
    await expect(workers().run('planJoin', { corpus: [], groups: [{ ids: [1], title: 'x' }] })).rejects.toMatchObject({
      code: 'BAD_JOIN',
      kind: 'input',
    });
  });

  it.each([
    ['its file is missing', null, /can't start: Cannot find module/],
    ['a module is missing', "import './none.mjs'", /can't start: Cannot find module .*none\.mjs/],
    ['it throws', "throw new Error('no luck')", /can't start: no luck/],
    ['it ends', 'process.exit(3)', /can't start: it ended/],
  ])('says why a thread cannot start: %s', async (_, body, why) => {
    const { run } = workers(body === null ? join(temporaryFolder(), 'none.mjs') : otherEntry(body));
    await expect(run('overview', overviewInput)).rejects.toMatchObject({
      code: 'TEXT_WORK_START',
      message: expect.stringMatching(why),
    });
  });

  it('ends the thread when cancelled, and works on', async () => {
    const { run } = workers();
    const controller = new AbortController();
    const many = { texts: madeTexts(...Array(2000).fill(200)), pairs: { train: 4, test: 2 }, seed: 1 };
    const result = run('overview', many, { signal: controller.signal });
    controller.abort();
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(run('overview', overviewInput, { signal: controller.signal })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    expect(await run('overview', overviewInput)).toMatchObject({ texts: 2 });
  });

  it('is cancelled too when its result was on the way, and the next task has a thread that lives', async () => {
    const { run } = workers();
    await run('overview', overviewInput);
    for (let round = 0; round < 5; round++) {
      const controller = new AbortController();
      const result = run('overview', overviewInput, { signal: controller.signal });
      // The thread answers meanwhile, and nobody reads it.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      controller.abort();
      await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(await run('overview', overviewInput)).toMatchObject({ texts: 2 });
    }
  });

  it('outlives a thread that fails while it is idle, and works on with another', async () => {
    const body = `parentPort.on('message', () => {
      parentPort.postMessage({ kind: 'result', value: 7 });
      setTimeout(() => { throw new Error('late'); }, 50);
    });`;
    const { run } = workers(otherEntry(body));
    expect(await run('overview', overviewInput)).toBe(7);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await run('overview', overviewInput)).toBe(7);
  });

  it('says so when the thread dies', async () => {
    const READY = `parentPort.postMessage({ kind: 'ready' });`;
    const dying = workers(otherEntry(`${READY} parentPort.on('message', () => process.exit(1));`));
    await expect(dying.run('overview', overviewInput)).rejects.toMatchObject({ code: 'TEXT_WORK_DIED' });
    const throwing = workers(
      otherEntry(`${READY} parentPort.on('message', () => { throw new Error('out of memory'); });`),
    );
    await expect(throwing.run('overview', overviewInput)).rejects.toMatchObject({
      code: 'TEXT_WORK_DIED',
      message: expect.stringContaining('out of memory'),
    });
  });
});
