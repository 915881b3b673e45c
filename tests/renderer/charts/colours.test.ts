import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A page whose scheme can be changed; its observers hear of it only while they observe. */
function page() {
  let ink = '#111111';
  const observing = new Set<() => void>();
  class Observer {
    readonly #heard: () => void;
    constructor(heard: () => void) {
      this.#heard = heard;
    }
    observe(): void {
      observing.add(this.#heard);
    }
    disconnect(): void {
      observing.delete(this.#heard);
    }
  }
  vi.stubGlobal('MutationObserver', Observer);
  vi.stubGlobal('document', { documentElement: {} });
  vi.stubGlobal('getComputedStyle', () => ({ getPropertyValue: () => ink }));
  return {
    switchTo: (colour: string): void => {
      ink = colour;
      for (const heard of observing) heard();
    },
  };
}

describe('colourOf', () => {
  it('follows the scheme, also where it changes while no chart is open', async () => {
    const { switchTo } = page();
    const { colourOf, onColoursChange } = await import('../../../renderer/charts/colours.ts');
    let changes = 0;
    const close = onColoursChange(() => changes++);
    expect(colourOf('ink')).toBe('#111111');
    switchTo('#eeeeee');
    expect([changes, colourOf('ink')]).toEqual([1, '#eeeeee']);
    close();
    // On the Settings screen, there is no chart.
    switchTo('#222222');
    onColoursChange(() => changes++);
    expect(colourOf('ink')).toBe('#222222');
    expect(changes).toBe(1);
  });
});
