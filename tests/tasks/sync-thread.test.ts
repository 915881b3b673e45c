import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startSyncThread } from '../../main/tasks/sync-thread.ts';
import { temporaryFolder } from '../store/helpers.ts';

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

it('keeps the process alive while a reply is waited for, and no longer', async () => {
  const entry = join(temporaryFolder(), 'silent.js');
  writeFileSync(entry, 'setInterval(() => undefined, 1000);');
  const thread = startSyncThread(entry, {}, {});
  onTestFinished(() => thread.end());
  const before = timers();
  const reply = thread.later(20);
  expect(timers()).toBe(before + 1);
  expect(await reply).toBeNull();
  expect(timers()).toBe(before);
});
