import { totalmem } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hostMemory } from '../../main/io/memory.ts';

afterEach(() => void vi.restoreAllMocks());

describe('hostMemory', () => {
  it("is what this process can take, of a container's limit where there is one", () => {
    vi.spyOn(process, 'availableMemory').mockReturnValue(5000);
    const limit = vi.spyOn(process, 'constrainedMemory').mockReturnValue(9000);
    expect(hostMemory()).toEqual({ freeBytes: 5000, totalBytes: 9000 });
    // No limit is 0 on some systems, and more than there is on others.
    for (const none of [0, 2 ** 63]) {
      limit.mockReturnValue(none);
      expect(hostMemory().totalBytes).toBe(totalmem());
    }
  });
});
