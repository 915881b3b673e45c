/** A thousand hostile rewards, one after the other in this process: none harms it, and the next reward works as ever. */
import { describe, expect, it, vi } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { SandboxFault } from '../../../main/tasks/sandbox/quickjs.ts';
import { openRewardSandbox } from '../../../main/tasks/sandbox/reward-sandbox.ts';
import { hostileRewards } from './hostile-set.ts';
import { answer, program, rewardWorker } from './scoring.ts';

/** A program that never ends as it loads takes this time whole, here as with the second that programs really have. */
vi.mock('../../../main/tasks/sandbox/messages.ts', async (original) => ({
  ...(await original<object>()),
  LOAD_MS: 50,
}));

const limits = { timeMs: 10, memoryMb: 6 };
/** The set in parts, so that a failure says where. */
const PARTS = 12;
const parts = Array.from({ length: PARTS }, (_, part) => hostileRewards.filter((_, i) => i % PARTS === part));

describe('a thousand hostile rewards', () => {
  it('are a thousand programs', () => {
    expect(new Set(hostileRewards.map(({ text }) => text)).size).toBeGreaterThanOrEqual(1000);
  });

  it.each(parts.map((part, i) => [i + 1, part] as const))(
    'part %i leaves host and judge unharmed',
    async (_, part) => {
      const before = Object.getOwnPropertyNames(Object.prototype).join();
      for (const { name, text } of part) {
        try {
          const sandbox = await openRewardSandbox(program(text, { limits }), rewardWorker);
          for (let call = 0; call < 2; call++) {
            const numbers = await sandbox.call('reward', answer('x'));
            expect(numbers.every(Number.isFinite), name).toBe(true);
          }
        } catch (error) {
          // Either refused when it was loaded, or failed on its completion: in words, never by another exception.
          expect(error instanceof SandboxFault || error instanceof BraidError, `${name}: ${String(error)}`).toBe(true);
          expect((error as Error).message.length, name).toBeLessThan(700);
        }
      }
      expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(before);
      expect(Reflect.get({}, 'reward')).toBeUndefined();
      expect(process.memoryUsage().rss).toBeLessThan(4 * 2 ** 30);
      const innocent = await openRewardSandbox(
        program('export const reward = ({ completion }) => completion.length', {
          limits: { timeMs: 1000, memoryMb: 16 },
        }),
        rewardWorker,
      );
      expect(await innocent.call('reward', answer('four'))).toEqual([4]);
    },
    240_000,
  );
});
