/** A number to type: the browser's own field, which costs a screen much less than one of Mantine's. */
import { useId } from 'react';
import classes from './NumberField.module.css';

export interface NumberFieldProps {
  readonly label: string;
  readonly placeholder?: string;
  /** Null: there is none. */
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
  readonly min?: number;
  readonly max?: number;
  /** Of 1 or more: only whole numbers are taken. */
  readonly step?: number;
  readonly disabled?: boolean;
  /** In pixels. */
  readonly width: number;
}

/** What is out of bounds is brought within them when the field is left. */
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
