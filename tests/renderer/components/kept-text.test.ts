import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepText } from '../../../renderer/components/kept-text.ts';

const draftKey = 'braid.notes.1.5';

function open({ draft, stored = 'old', fails = false }: { draft?: string; stored?: string; fails?: boolean } = {}) {
  const drafts = new Map(draft === undefined ? [] : [[draftKey, draft]]);
  const storage = {
    getItem: (key: string) => drafts.get(key) ?? null,
    setItem: (key: string, text: string) => void drafts.set(key, text),
    removeItem: (key: string) => void drafts.delete(key),
  };
  const host = { fails };
  const save = vi.fn((_text: string) => (host.fails ? Promise.reject(new Error('lost')) : Promise.resolve()));
  return { kept: keepText({ draftKey, stored, save, storage }), drafts, save, host };
}

describe('keepText', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('saves once when typing pauses, and forgets the draft then', async () => {
    const { kept, drafts, save } = open();
    kept.change('n');
    await vi.advanceTimersByTimeAsync(600);
    kept.change('new');
    expect(drafts.get(draftKey)).toBe('new');
    await vi.advanceTimersByTimeAsync(699);
    expect(save).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(save.mock.calls).toEqual([['new']]);
    expect(drafts.size).toBe(0);
    kept.flush();
    expect(save).toHaveBeenCalledTimes(1);
  });

  it('saves at once when it is flushed, and only what changed', () => {
    const { kept, save } = open();
    kept.flush();
    expect(save).not.toHaveBeenCalled();
    kept.change('new');
    kept.flush();
    kept.flush();
    expect(save.mock.calls).toEqual([['new']]);
  });

  it('sends the earlier text again where it was restored during a save', async () => {
    const { kept, save } = open();
    kept.change('new');
    kept.flush();
    kept.change('old');
    kept.flush();
    await vi.runAllTimersAsync();
    expect(save.mock.calls).toEqual([['new'], ['old']]);
  });

  it('takes a text from elsewhere only while nothing is unsaved or being saved', async () => {
    const { kept } = open();
    kept.follow('from elsewhere');
    expect(kept.text()).toBe('from elsewhere');
    kept.change('typed');
    kept.follow('again from elsewhere');
    expect(kept.text()).toBe('typed');
    kept.flush();
    kept.follow('once more');
    expect(kept.text()).toBe('typed');
    await vi.runAllTimersAsync();
    kept.follow('at last');
    expect(kept.text()).toBe('at last');
  });

  it('keeps the draft after a failed save, and sends it with the next flush', async () => {
    const { kept, drafts, save, host } = open({ fails: true });
    kept.change('new');
    await vi.runAllTimersAsync();
    expect(drafts.get(draftKey)).toBe('new');
    host.fails = false;
    kept.flush();
    await vi.runAllTimersAsync();
    expect(save.mock.calls).toEqual([['new'], ['new']]);
    expect(drafts.size).toBe(0);
  });

  it('starts with a draft that was never saved, and forgets one that was', () => {
    const unsaved = open({ draft: 'typed before the window closed' });
    expect(unsaved.kept.text()).toBe('typed before the window closed');
    unsaved.kept.follow('old');
    expect(unsaved.kept.text()).toBe('typed before the window closed');
    const known = open({ draft: 'old' });
    known.kept.follow('old');
    expect(known.drafts.size).toBe(0);
  });

  it('works without storage', () => {
    const denied = () => {
      throw new Error('denied');
    };
    const save = vi.fn(() => Promise.resolve());
    const storage = { getItem: denied, setItem: denied, removeItem: denied };
    const kept = keepText({ draftKey, stored: 'old', save, storage });
    kept.change('new');
    kept.flush();
    expect(kept.text()).toBe('new');
    expect(save).toHaveBeenCalledWith('new');
  });
});
