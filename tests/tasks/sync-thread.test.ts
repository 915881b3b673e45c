import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startSyncThread } from '../../main/tasks/sync-thread.ts';
import { temporaryFolder } from '../temporary-folder.ts';

it('keeps the process alive while a reply is waited for, and no longer', async () => {
  const entry = join(temporaryFolder(), 'silent.js');
  writeFileSync(entry, 'setInterval(() => undefined, 1000);');
  const thread = startSyncThread(entry, {}, {});
  onTestFinished(() => thread.end());
  const [begun, ended] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  onTestFinished(() => [begun, ended].forEach((spy) => void spy.mockRestore()));
  const reply = thread.later(20);
  const timer = begun.mock.results[0]?.value;
  expect(timer?.hasRef()).toBe(true);
  expect(await reply).toBeNull();
  expect(ended).toHaveBeenCalledWith(timer);
});
