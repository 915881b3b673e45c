/** A native select, for a Mantine Select is twenty times as expensive to render; one to search if the list is long. */
import { IconSelector } from '@tabler/icons-react';
import classes from './Choice.module.css';
import { LongChoice } from './LongChoice.tsx';

export interface ChoiceProps<V extends string> {
  readonly id?: string;
  readonly 'aria-label'?: string;
  readonly data: readonly { readonly value: V; readonly label: string }[];
  readonly value: V;
  readonly onChange: (value: V) => void;
  /** In pixels; fills the available width by default. */
  readonly width?: number;
}

/** As many as one reads through. */
const MOST = 20;

export function Choice<V extends string>({ data, value, onChange, width, ...named }: ChoiceProps<V>) {
  if (data.length > MOST) {
    return (
      <LongChoice
        {...named}
        {...(width !== undefined && { w: width })}
        currentLabel={data.find((option) => option.value === value)?.label}
        data={data}
        value={value}
        allowDeselect={false}
        nothingFoundMessage="No matches"
        onChange={(chosen) => {
          const option = data.find((one) => one.value === chosen);
          if (option !== undefined) onChange(option.value);
        }}
      />
    );
  }
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
