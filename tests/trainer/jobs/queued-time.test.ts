import { afterEach, describe, expect, it, vi } from 'vitest';
import { secondsEach } from '../../../main/trainer/jobs/queued-time.ts';

describe('secondsEach', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('is what a piece takes, and hardly anything of the wait for all of them', () => {
    // A queue: pieces take 1 ms each once they are waited for, and the wait 10 ms more.
    let [clock, queued, waits] = [0, 0, 0];
    vi.spyOn(performance, 'now').mockImplementation(() => clock);
    const seconds = secondsEach(
      () => queued++,
      () => {
        clock += queued + 10;
        [queued, waits] = [0, waits + 1];
      },
      200,
    );
    expect(seconds).toBeGreaterThan(0.001);
    expect(seconds).toBeLessThan(0.0011);
    expect(waits).toBeLessThan(12);
  });
});
