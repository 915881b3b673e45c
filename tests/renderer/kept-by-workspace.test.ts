import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { emptyForm } from '../../renderer/playground/form.ts';
import { useHistory } from '../../renderer/playground/history.ts';
import { useRememberedFilter } from '../../renderer/runs/remembered-filter.ts';

/** What a hook returns when it is rendered once. */
function rendered<T>(hook: () => T): T {
  const results: T[] = [];
  const Probe = (): null => {
    results.push(hook());
    return null;
  };
  renderToStaticMarkup(createElement(Probe));
  return results[0] as T;
}

describe('what the browser keeps for a workspace', () => {
  beforeEach(() => {
    const kept = new Map<string, string>();
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => kept.set(key, value),
      removeItem: (key: string) => kept.delete(key),
    });
  });
  afterEach(() => vi.unstubAllGlobals());

  it('is not shown in another: the filter of the runs', () => {
    const [, change] = rendered(() => useRememberedFilter('/one'));
    change({ words: 'beta' });
    expect(rendered(() => useRememberedFilter('/one'))[0]).toEqual({ words: 'beta', state: 'all' });
    expect(rendered(() => useRememberedFilter('/two'))[0]).toEqual({ words: '', state: 'all' });
    expect(rendered(() => useRememberedFilter(undefined))[0]).toEqual({ words: '', state: 'all' });
  });

  it('is not shown in another: the history of the playground', () => {
    const asked = { at: 1, form: { ...emptyForm, a: 'one' }, scores: [null], answers: [] };
    localStorage.setItem('braid.playground.history./one', JSON.stringify([asked]));
    expect(rendered(() => useHistory('/one')).history).toEqual([asked]);
    expect(rendered(() => useHistory('/two')).history).toEqual([]);
    expect(rendered(() => useHistory(undefined)).history).toEqual([]);
  });
});
