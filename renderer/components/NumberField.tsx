/** A plain input for numbers, which is much cheaper to render than one of Mantine's. */
import { useId } from 'react';
import classes from './NumberField.module.css';
import { type TypedNumberOptions, useTypedNumber } from './use-typed-number.ts';

export interface NumberFieldProps extends Omit<TypedNumberOptions, 'step'> {
  readonly label: string;
  /** Something shorter stands beside it. */
  readonly hidesLabel?: boolean;
  readonly placeholder?: string;
  readonly step?: number;
  readonly disabled?: boolean;
  /** In pixels. */
  readonly width: number;
}

export function NumberField(props: NumberFieldProps) {
  const { label, hidesLabel = false, value, onChange, min, max, step = 1, width, ...rest } = props;
  const id = useId();
  const { fault, isOther, input } = useTypedNumber({ value, onChange, min, max, step });
  return (
    <span className={classes.field} style={{ width }}>
      {!hidesLabel && <label htmlFor={id}>{label}</label>}
      <input
        {...rest}
        {...input}
        id={id}
        role="spinbutton"
        aria-valuenow={value ?? undefined}
        aria-valuemin={min}
        aria-valuemax={max}
        className="box"
        {...(hidesLabel && { 'aria-label': label })}
        aria-invalid={isOther || undefined}
        aria-describedby={fault === null ? undefined : `${id}-fault`}
      />
      {fault !== null && (
        <span className={classes.fault} id={`${id}-fault`} role="alert">
          {fault}
        </span>
      )}
    </span>
  );
}
