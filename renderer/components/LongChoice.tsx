/** One of a long list, found by typing. Only its face is on the screen until it is asked for: the list costs much more. */
import { Select, type SelectProps } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import { useState } from 'react';
import classes from './Choice.module.css';

export interface LongChoiceProps extends Omit<SelectProps, 'label'> {
  readonly 'aria-label': string;
  readonly className?: string | undefined;
  /** Of the one that is chosen; undefined: the placeholder shows. */
  readonly face: string | undefined;
}

export function LongChoice({ face, ...select }: LongChoiceProps) {
  const [asked, setAsked] = useState(false);
  const { className = '', placeholder, 'aria-label': label } = select;
  if (asked) {
    // What is typed takes the place of what is chosen.
    return (
      <Select
        {...select}
        searchable
        autoFocus
        defaultDropdownOpened
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
    );
  }
  return (
    <span className={`${classes.choice} ${className}`}>
      <button
        type="button"
        className="box"
        role="combobox"
        aria-label={label}
        aria-haspopup="listbox"
        aria-expanded={false}
        data-empty={face === undefined || undefined}
        onClick={() => setAsked(true)}
        onKeyDown={({ key, ctrlKey, metaKey, altKey }) => {
          const typed = key.length === 1 && !ctrlKey && !metaKey && !altKey;
          if (typed || key === 'ArrowDown' || key === 'ArrowUp') setAsked(true);
        }}
      >
        {face ?? placeholder}
      </button>
      <IconSelector size={14} stroke={1.6} aria-hidden="true" />
    </span>
  );
}
