/** A number that a form can't do without: what its field shows is what is used, or marked until the field is left. */
import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState } from 'react';
import { type Bounds, fitsBounds, numberIn, settled, type TypedNumber } from './typed-number.ts';

export interface BoundedNumberProps
  extends Bounds,
    Pick<NumberInputProps, 'label' | 'description' | 'aria-label' | 'w' | 'step' | 'decimalScale' | 'hideControls'> {
  readonly value: number;
  readonly onChange: (value: number) => void;
}

/** Without `decimalScale` it takes whole numbers. */
export function BoundedNumber({ value, onChange, min, max, decimalScale = 0, ...rest }: BoundedNumberProps) {
  const [typed, setTyped] = useState<TypedNumber>(value);
  const bounds = { min, max };
  const isUsed = fitsBounds(typed, bounds);
  // It was changed elsewhere.
  if (isUsed && numberIn(typed) !== value) setTyped(value);
  const leave = (): void => {
    const next = settled(typed, value, bounds);
    setTyped(next);
    if (next !== value) onChange(next);
  };
  return (
    <NumberInput
      {...rest}
      {...bounds}
      decimalScale={decimalScale}
      allowDecimal={decimalScale > 0}
      allowNegative={min < 0}
      clampBehavior="none"
      error={!isUsed}
      value={typed}
      onChange={(next) => {
        setTyped(next);
        if (fitsBounds(next, bounds)) onChange(numberIn(next) ?? value);
      }}
      onBlur={leave}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || isUsed) return;
        // The form would be sent with another number than the field shows.
        event.preventDefault();
        leave();
      }}
    />
  );
}
