/** A native number input, which is much cheaper to render than a Mantine NumberInput. */
import { useId, useState } from 'react';
import classes from './NumberField.module.css';

export interface NumberFieldProps {
  readonly label: string;
  readonly placeholder?: string;
  /** Null when empty. */
  readonly value: number | null;
  /** Receives null when it is emptied; a caller that needs a number keeps the one it has. */
  readonly onChange: (value: number | null) => void;
  readonly min?: number;
  readonly max?: number;
  /** With a step of 1 or more, only whole numbers are accepted. */
  readonly step?: number;
  readonly disabled?: boolean;
  /** In pixels. */
  readonly width: number;
}

/** Values out of bounds are clamped when the field loses focus; one that can't be empty then shows its value again. */
export function NumberField(props: NumberFieldProps) {
  const { label, value, onChange, min, max, step = 1, width, ...rest } = props;
  const id = useId();
  const [isEmpty, setEmpty] = useState(false);
  const leave = (): void => {
    setEmpty(false);
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
        value={isEmpty ? '' : (value ?? '')}
        onChange={({ currentTarget: { valueAsNumber: typed } }) => {
          setEmpty(Number.isNaN(typed));
          if (Number.isNaN(typed)) onChange(null);
          else onChange(step >= 1 ? Math.round(typed) : typed);
        }}
        onBlur={leave}
      />
    </span>
  );
}
