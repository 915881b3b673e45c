import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openNotices } from '../../../main/services/workspace/notices.ts';
import { surviveRejections } from '../../../main/services/workspace/stray-faults.ts';

describe('surviveRejections', () => {
  it('logs a rejection that nobody handles and shows it to the person', async () => {
    const notices = openNotices(openChanges());
    // Without Vitest's own listener, which fails the run.
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    const end = surviveRejections(notices);
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => {
      end();
      stderr.mockRestore();
      for (const listener of others) process.on('unhandledRejection', listener);
    });
    void Promise.reject(new Error('lost on the way'));
    await vi.waitFor(() => expect(notices.list()).toHaveLength(1));
    expect(notices.list()[0]).toMatchObject({
      severity: 'error',
      message: 'A background task failed: lost on the way',
    });
    expect(String(stderr.mock.calls[0]?.[0])).toMatch(
      /^braid: A background task failed: Error: lost on the way\n {4}at /,
    );
    end();
    expect(process.listenerCount('unhandledRejection')).toBe(0);
  });
});
