import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connection, currentTransport, keepConnected, reconnectBy } from '../../../renderer/api/connection.ts';
import { SessionExpired, type Transport } from '../../../renderer/api/transport.ts';

/** A transport that is lost when asked. */
function fake(): Transport & { readonly lose: () => void } {
  const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
  return { link: { call: () => Promise.reject(new Error('not asked')) }, lost, lose };
}

describe('keepConnected', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reconnects once an expired session is valid again, or at once by another one', async () => {
    const [first, second, third] = [fake(), fake(), fake()];
    const answers: (Transport | Error)[] = [first, new SessionExpired(), new SessionExpired(), second];
    void keepConnected(async () => {
      const answer = answers.shift() ?? new SessionExpired();
      if (answer instanceof Error) throw answer;
      return answer;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(connection.get()).toMatchObject({ kind: 'open', transport: first, epoch: 1 });
    first.lose();
    await vi.advanceTimersByTimeAsync(0);
    expect(connection.get().kind).toBe('lost');
    await vi.advanceTimersByTimeAsync(300);
    expect(connection.get().kind).toBe('expired');
    await expect(currentTransport()).rejects.toThrow('has expired');
    await vi.advanceTimersByTimeAsync(3000);
    expect(connection.get()).toMatchObject({ kind: 'open', transport: second, epoch: 2 });
    second.lose();
    await vi.advanceTimersByTimeAsync(300);
    expect(connection.get().kind).toBe('expired');
    reconnectBy(third);
    await vi.advanceTimersByTimeAsync(0);
    expect(connection.get()).toMatchObject({ kind: 'open', transport: third, epoch: 3 });
  });
});
