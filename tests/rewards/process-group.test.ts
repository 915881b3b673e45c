import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { startGroup } from '../../main/rewards/process-group.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('startGroup', () => {
  it('has an error event for a program that Node refuses to start, too', async () => {
    // Windows refuses batch files; an argument of 4 MiB is too long everywhere.
    const child = startGroup([process.execPath, 'x'.repeat(2 ** 22)], temporaryFolder(), 'pipe');
    const [error] = await once(child, 'exit').catch((refusal: unknown) => [refusal]);
    expect(error).toBeInstanceOf(Error);
    expect(child.pid).toBeUndefined();
  });
});
