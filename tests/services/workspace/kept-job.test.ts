import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openJobs } from '../../../main/services/workspace/jobs.ts';
import { openKeptJob } from '../../../main/services/workspace/kept-job.ts';

const GRACE_MS = 1000;

/** What a page asks for; `finish` ends the newest job that was started for it. */
function open() {
  const jobs = openJobs({ publish: () => undefined });
  const preflights = openKeptJob<string>(jobs, GRACE_MS);
  let finish: (report: string) => void = () => undefined;
  const work = ({ signal }: { readonly signal: AbortSignal }) =>
    new Promise<string>((settle, fail) => {
      finish = settle;
      signal.addEventListener('abort', () => fail(new Error('cancelled')));
    });
  const ask = (key: string, kept: boolean, signal?: AbortSignal) =>
    preflights.result({ key, kept, start: () => jobs.start('preflight', key, work), signal });
  const states = () => jobs.list().map(({ state }) => state);
  return { ask, states, finish: (report: string) => finish(report) };
}

describe('openKeptJob', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is joined by the page that was reloaded, and gives it the result afterwards', async () => {
    const { ask, states, finish } = open();
    const page = new AbortController();
    const before = ask('a', false, page.signal);
    // The connection has ended.
    page.abort();
    await vi.advanceTimersByTimeAsync(GRACE_MS / 2);
    const after = ask('a', true, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(GRACE_MS * 2);
    finish('fine');
    expect([await before, await after, await ask('a', true)]).toEqual(['fine', 'fine', 'fine']);
    expect(states()).toEqual(['done']);
  });

  it('starts another one for other settings, on request, and after a failure', async () => {
    const { ask, states, finish } = open();
    const first = ask('a', true);
    finish('fine');
    await first;
    void ask('b', true).catch(() => undefined);
    const page = new AbortController();
    const given = expect(ask('b', false, page.signal)).rejects.toThrow('cancelled');
    page.abort(new Error('Client aborted the request'));
    await given;
    void ask('b', true).catch(() => undefined);
    expect(states()).toEqual(['running', 'cancelled', 'running', 'done']);
  });

  it('is cancelled at once by a page that gives it up, and after a while where the page is gone', async () => {
    const { ask, states } = open();
    const pages = [new AbortController(), new AbortController()] as const;
    const ended = pages.map(({ signal }) => expect(ask('a', true, signal)).rejects.toThrow('cancelled'));
    pages[0].abort(new Error('Client aborted the request'));
    expect(states()).toEqual(['running']);
    pages[1].abort();
    await vi.advanceTimersByTimeAsync(GRACE_MS / 2);
    expect(states()).toEqual(['running']);
    await vi.advanceTimersByTimeAsync(GRACE_MS);
    await Promise.all(ended);
    expect(states()).toEqual(['cancelled']);
  });
});
