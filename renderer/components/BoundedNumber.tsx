/** A number that a form can't do without: emptied, it keeps the one it had. */
import { NumberEntry, type NumberEntryProps } from './NumberEntry.tsx';

export interface BoundedNumberProps extends Omit<NumberEntryProps, 'value' | 'onChange' | 'min' | 'max'> {
  readonly min: number;
  readonly max: number;
  readonly value: number;
  readonly onChange: (value: number) => void;
}

export function BoundedNumber({ onChange, ...rest }: BoundedNumberProps) {
  return <NumberEntry {...rest} onChange={(next) => next !== null && onChange(next)} />;
}
