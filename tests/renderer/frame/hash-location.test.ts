import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { navigate, openAhead, openWith, place, readHash } from '../../../renderer/frame/hash-location.ts';

describe('readHash', () => {
  it('tells the path from what is asked of it', () => {
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
    openWith((path) => (path.startsWith('/runs/') ? new Promise<void>((done) => (opened = done)) : undefined));
    navigate('/');
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('shows at once what needs no opening', () => {
    navigate('/samples?run=7');
    expect(place()).toEqual({ path: '/samples', search: 'run=7' });
  });

  it('stays where it is until what the place shows first is there', async () => {
    navigate('/runs/3');
    await vi.advanceTimersByTimeAsync(50);
    expect(place().path).toBe('/');
    opened();
    await vi.advanceTimersByTimeAsync(0);
    expect(place().path).toBe('/runs/3');
  });

  it('goes without it when it takes long', async () => {
    navigate('/runs/3');
    await vi.advanceTimersByTimeAsync(100);
    expect(place().path).toBe('/runs/3');
  });

  it('forgets a place that someone has left before it was shown', async () => {
    navigate('/runs/3');
    navigate('/models');
    opened();
    await vi.advanceTimersByTimeAsync(200);
    expect(place().path).toBe('/models');
  });

  it('asks for no opening of what is on show already', async () => {
    navigate('/runs/3');
    await vi.advanceTimersByTimeAsync(100);
    const fetch = vi.fn();
    openWith(fetch);
    navigate('/runs/3?step=5');
    expect(place().search).toBe('step=5');
    expect(fetch).not.toHaveBeenCalled();
  });
});

describe('openAhead', () => {
  it('fetches the opening of the path, whatever is asked of it', () => {
    const fetch = vi.fn();
    openWith(fetch);
    openAhead('/runs/3?step=5');
    expect(fetch.mock.calls).toEqual([['/runs/3']]);
  });
});
