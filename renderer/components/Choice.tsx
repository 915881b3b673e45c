/** A native select for short lists. A Mantine Select is twenty times as expensive to render. */
import { IconSelector } from '@tabler/icons-react';
import classes from './Choice.module.css';

export interface ChoiceProps<V extends string> {
  readonly id?: string;
  readonly 'aria-label'?: string;
  readonly data: readonly { readonly value: V; readonly label: string }[];
  readonly value: V;
  readonly onChange: (value: V) => void;
  /** In pixels; fills the available width by default. */
  readonly width?: number;
}

export function Choice<V extends string>({ data, value, onChange, width, ...named }: ChoiceProps<V>) {
  return (
    <span className={classes.choice} {...(width !== undefined && { style: { width } })}>
      <select
        {...named}
        className="box"
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = data[currentTarget.selectedIndex];
          if (chosen !== undefined) onChange(chosen.value);
        }}
      >
        {data.map(({ value: own, label }) => (
          <option key={own} value={own}>
            {label}
          </option>
        ))}
      </select>
      <IconSelector size={14} stroke={1.6} aria-hidden="true" />
    </span>
  );
}
