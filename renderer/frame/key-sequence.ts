/** `g` and then the key of a screen. Pure. */

/** A `g` counts for this long: later, the next key was meant for the screen. */
const ARMED_MS = 1500;

export interface KeySequence {
  /** Whether a key stands alone or follows `g`. A held `g`, or a key held since it ended a sequence, is ignored. */
  take(key: string, at: number, isRepeat: boolean): 'first' | 'second' | 'ignored';
  /** After a key that something else has handled. */
  reset(): void;
}

export function createKeySequence(): KeySequence {
  let armedAt: number | null = null;
  /** The second key: held, it must not act on the screen that it opened. */
  let ended: string | null = null;
  return {
    take: (key, at, isRepeat) => {
      const isArmed = armedAt !== null && at - armedAt <= ARMED_MS;
      if (isRepeat && (isArmed || key === 'g' || key === ended)) return 'ignored';
      armedAt = key === 'g' && !isArmed ? at : null;
      ended = isArmed ? key : null;
      return isArmed ? 'second' : 'first';
    },
    reset: () => {
      armedAt = null;
      ended = null;
    },
  };
}
