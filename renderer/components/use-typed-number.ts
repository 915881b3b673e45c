/** What a field for a number holds while it is typed. */
import { type ChangeEvent, type KeyboardEvent, useRef, useState } from 'react';
import { isUnfinished, numberFault, readNumber } from './typed-number.ts';

export interface TypedNumberOptions {
  /** Null when empty. */
  readonly value: number | null;
  /** Receives null when it is emptied; a caller that needs a number keeps the one it has. */
  readonly onChange: (value: number | null) => void;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** With a step of 1 or more, only whole numbers are accepted. */
  readonly step: number;
}

/**
 * What is typed stays until the field is left: a browser's own number field drops decimal commas, so that 0,5 is 5. What
 * isn't a number is marked, says so, and leaves the number from before; the nearest within the bounds is used.
 */
export function useTypedNumber({ value, onChange, min, max, step }: TypedNumberOptions) {
  /** `used`: what was made of it. */
  const [typed, setTyped] = useState<{ readonly text: string; readonly used: number | null } | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [known, setKnown] = useState(value);
  const before = useRef(value);
  const isWhole = step >= 1;
  const within = (number: number): number => Math.min(max ?? Infinity, Math.max(min ?? -Infinity, number));
  if (value !== known) {
    setKnown(value);
    // It was changed elsewhere, as by a reset.
    if (typed !== null && typed.used !== value) setTyped(null);
  }
  const leave = (): void => {
    setTyped(null);
    if (value !== null && within(value) !== value) onChange(within(value));
  };
  const type = (text: string): void => {
    const wrong = numberFault(text, isWhole);
    const number = readNumber(text, isWhole);
    const used = wrong !== null ? before.current : number === null ? null : within(number);
    setTyped({ text, used });
    setFault(wrong);
    onChange(used);
  };
  const stepBy = (by: number): void => {
    const next = within(Number(((value ?? 0) + by).toPrecision(12)));
    before.current = next;
    setTyped(null);
    setFault(null);
    onChange(next);
  };
  /** What it shows isn't what is used. */
  const isOther = typed !== null && (fault !== null || readNumber(typed.text, isWhole) !== value);
  return {
    /** To be shown, also after the field was left, until it is used again. */
    fault: typed !== null && isUnfinished(typed.text) ? null : fault,
    isOther,
    input: {
      inputMode: isWhole ? 'numeric' : 'decimal',
      autoComplete: 'off',
      value: typed?.text ?? value ?? '',
      onFocus: (): void => {
        before.current = value;
        setFault(null);
      },
      onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement>): void => type(currentTarget.value),
      onBlur: leave,
      onKeyDown: (event: KeyboardEvent): void => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === 'Enter' && isOther) {
          // The form would be sent with another number than the field shows.
          event.preventDefault();
          leave();
        }
        if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
        event.preventDefault();
        stepBy(event.key === 'ArrowUp' ? step : -step);
      },
    },
  } as const;
}
