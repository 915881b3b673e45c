import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  followAddress,
  guardLocation,
  navigate,
  navigateFrom,
  place,
  prefetchLocation,
  readHash,
  setPrefetch,
  subscribe,
} from '../../../renderer/frame/hash-location.ts';

describe('readHash', () => {
  it('splits the path from the query', () => {
    expect(readHash('#/samples?run=7&q=what?')).toEqual({ path: '/samples', search: 'run=7&q=what?' });
    expect(readHash('#/runs/3')).toEqual({ path: '/runs/3', search: '' });
    expect(readHash('#runs')).toEqual({ path: '/runs', search: '' });
    expect(readHash('')).toEqual({ path: '/', search: '' });
  });
});

describe('navigate', () => {
  let opened: () => void;
  beforeEach(() => {
    vi.useFakeTimers();
    const location = new URL('http://app/#/');
    const pushState = (_: null, __: string, url: URL): void => {
      location.href = url.href;
    };
    vi.stubGlobal('window', { location, history: { pushState } });
    setPrefetch((path) => (path.startsWith('/runs/') ? new Promise<void>((done) => (opened = done)) : undefined));
    navigate('/');
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('shows a location without a prefetch at once', () => {
    navigate('/samples?run=7');
    expect(place()).toEqual({ path: '/samples', search: 'run=7' });
  });

  it('leaves the user alone who went elsewhere while a request was answered', () => {
    navigateFrom('/', '/samples');
    navigateFrom('/', '/texts');
    expect(place().path).toBe('/samples');
  });

  it('stays on the old location until the prefetch is done', async () => {
    navigate('/runs/3');
    await vi.advanceTimersByTimeAsync(50);
    expect(place().path).toBe('/');
    opened();
    await vi.advanceTimersByTimeAsync(0);
    expect(place().path).toBe('/runs/3');
  });

  it("doesn't wait for a slow prefetch", async () => {
    navigate('/runs/3');
    await vi.advanceTimersByTimeAsync(100);
    expect(place().path).toBe('/runs/3');
  });

  it('skips a location that was left before it was shown', async () => {
    navigate('/runs/3');
    navigate('/models');
    opened();
    await vi.advanceTimersByTimeAsync(200);
    expect(place().path).toBe('/models');
  });

  it("doesn't prefetch the location that is already shown", async () => {
    navigate('/runs/3');
    await vi.advanceTimersByTimeAsync(100);
    const fetch = vi.fn();
    setPrefetch(fetch);
    navigate('/runs/3?step=5');
    expect(place().search).toBe('step=5');
    expect(fetch).not.toHaveBeenCalled();
  });
});

describe('subscribe', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it('shows an address that was changed before anything listened to its changes', () => {
    const location = new URL('http://app/#/');
    const [addEventListener, removeEventListener] = [vi.fn(), vi.fn()];
    vi.stubGlobal('window', { location, addEventListener, removeEventListener, history: { pushState: vi.fn() } });
    setPrefetch(() => undefined);
    followAddress();
    location.hash = '#/models';
    const listener = vi.fn();
    subscribe(listener)();
    expect([place().path, listener.mock.calls.length]).toEqual(['/models', 1]);
  });
});

describe('guardLocation', () => {
  const location = new URL('http://app/#/');
  let leave: (() => void) | null;
  let release: () => void;
  beforeEach(() => {
    leave = null;
    const pushState = (_: null, __: string, url: URL): void => {
      location.href = url.href;
    };
    vi.stubGlobal('window', { location, history: { pushState } });
    setPrefetch(() => undefined);
    navigate('/curriculum');
    release = guardLocation((go) => {
      leave = go;
      return true;
    });
  });
  afterEach(() => {
    release();
    vi.unstubAllGlobals();
  });

  it('asks before a navigation, which waits for the answer', () => {
    navigate('/runs');
    expect([place().path, location.hash]).toEqual(['/curriculum', '#/curriculum']);
    leave?.();
    expect([place().path, location.hash]).toEqual(['/runs', '#/runs']);
  });

  it('asks before Back, with the address of the location that stays', () => {
    location.hash = '#/models';
    followAddress();
    expect([place().path, location.hash]).toEqual(['/curriculum', '#/curriculum']);
    leave?.();
    expect([place().path, location.hash]).toEqual(['/models', '#/models']);
  });

  it("doesn't ask about the location that is shown, nor once it is released", () => {
    navigate('/curriculum');
    followAddress();
    expect(leave).toBeNull();
    release();
    navigate('/runs');
    expect([place().path, leave]).toEqual(['/runs', null]);
  });
});

describe('prefetchLocation', () => {
  it('prefetches by path, whatever the query', () => {
    const fetch = vi.fn();
    setPrefetch(fetch);
    prefetchLocation('/runs/3?step=5');
    expect(fetch.mock.calls).toEqual([['/runs/3']]);
  });
});
