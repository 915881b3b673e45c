import { totalmem } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hostMemory } from '../../main/io/memory.ts';

afterEach(() => void vi.restoreAllMocks());

const nothing = (): string => '';

describe('hostMemory', () => {
  it("is what this process can take, of a container's limit where there is one", () => {
    vi.spyOn(process, 'availableMemory').mockReturnValue(5000);
    const limit = vi.spyOn(process, 'constrainedMemory').mockReturnValue(9000);
    expect(hostMemory(nothing)).toEqual({ freeBytes: 5000, totalBytes: 9000 });
    // No limit is 0 on some systems, and more than there is on others.
    for (const none of [0, 2 ** 63]) {
      limit.mockReturnValue(none);
      expect(hostMemory(nothing)).toEqual({ freeBytes: 5000, totalBytes: totalmem() });
    }
  });

  it('counts files that a container has cached as free, up to its limit', () => {
    vi.spyOn(process, 'availableMemory').mockReturnValue(500);
    vi.spyOn(process, 'constrainedMemory').mockReturnValue(9000);
    const second = 'anon 4000\nfile 3500\ninactive_file 3000\nactive_file 500\n';
    expect(hostMemory(() => second).freeBytes).toBe(3500);
    const first = 'cache 3500\nrss 4000\ntotal_inactive_file 2000\n';
    expect(hostMemory(() => first).freeBytes).toBe(2500);
    expect(hostMemory(() => 'inactive_file 20000').freeBytes).toBe(9000);
  });
});
