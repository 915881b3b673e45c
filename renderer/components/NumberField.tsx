/** A native number input, which is much cheaper to render than a Mantine NumberInput. */
import { useId } from 'react';
import classes from './NumberField.module.css';

export interface NumberFieldProps {
  readonly label: string;
  readonly placeholder?: string;
  /** Null when empty. */
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
  readonly min?: number;
  readonly max?: number;
  /** With a step of 1 or more, only whole numbers are accepted. */
  readonly step?: number;
  readonly disabled?: boolean;
  /** In pixels. */
  readonly width: number;
}

/** Values out of bounds are clamped when the field loses focus. */
export function NumberField(props: NumberFieldProps) {
  const { label, value, onChange, min, max, step = 1, width, ...rest } = props;
  const id = useId();
  const leave = (): void => {
    if (value === null) return;
    const within = Math.min(max ?? value, Math.max(min ?? value, value));
    if (within !== value) onChange(within);
  };
  return (
    <span className={classes.field} style={{ width }}>
      <label htmlFor={id}>{label}</label>
      <input
        {...rest}
        {...{ id, min, max, step }}
        type="number"
        className="box"
        value={value ?? ''}
        onChange={({ currentTarget: { valueAsNumber: typed } }) => {
          if (Number.isNaN(typed)) onChange(null);
          else onChange(step >= 1 ? Math.round(typed) : typed);
        }}
        onBlur={leave}
      />
    </span>
  );
}
