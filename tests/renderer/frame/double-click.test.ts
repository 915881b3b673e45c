import { describe, expect, it, vi } from 'vitest';
import { keepDoubleClicksOnButtons } from '../../../renderer/frame/double-click.ts';

class FakeElement {
  readonly button: FakeElement | null;
  constructor(button: FakeElement | null = null) {
    this.button = button;
  }
  closest() {
    return this.button;
  }
  contains(other: unknown) {
    return other === this || (other instanceof FakeElement && other.button === this);
  }
}

describe('keepDoubleClicksOnButtons', () => {
  it('keeps the second click from selecting what the first one has put there, and no other', () => {
    vi.stubGlobal('Element', FakeElement);
    let heard: (event: object) => void = () => undefined;
    keepDoubleClicksOnButtons({
      addEventListener: (_: string, listener: never) => {
        heard = listener;
      },
    });
    const press = (target: FakeElement, detail: number): boolean => {
      const preventDefault = vi.fn();
      heard({ target, detail, preventDefault });
      return preventDefault.mock.calls.length > 0;
    };
    const button = new FakeElement();
    const label = new FakeElement(button);
    const words = new FakeElement();
    expect([press(label, 1), press(words, 2)]).toEqual([false, true]);
    expect([press(label, 1), press(label, 2)]).toEqual([false, false]);
    expect([press(words, 1), press(words, 2)]).toEqual([false, false]);
    vi.unstubAllGlobals();
  });
});
