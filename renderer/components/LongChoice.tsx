/** A searchable select for long lists. While it is closed only a button is rendered, which is much cheaper. */
import type { SelectProps } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import classes from './Choice.module.css';
import { DistinctName } from './DistinctName.tsx';
import { LongSelect } from './LongSelect.tsx';
import { flatOptions, type LongData, labelOf } from './long-options.ts';
import { partsAmong } from './tell-apart.ts';

export interface LongChoiceProps extends Omit<SelectProps, 'label' | 'w' | 'data'> {
  readonly data: LongData;
  /** In pixels; by default as its class says. */
  readonly w?: number;
  readonly className?: string | undefined;
  /** Label of the selected option; undefined shows the placeholder. */
  readonly currentLabel: string | undefined;
}

export function LongChoice({ currentLabel, ...select }: LongChoiceProps) {
  const [isOpen, setOpen] = useState(false);
  // The focus returns to the button, unless the user has moved it elsewhere.
  const returns = useRef(false);
  const field = useRef<HTMLInputElement>(null);
  const { id, className = '', w, placeholder, 'aria-label': label } = select;
  if (isOpen) {
    return (
      <LongSelect
        {...select}
        ref={field}
        autoFocus
        defaultDropdownOpened
        onDropdownClose={() => {
          returns.current = document.activeElement === field.current;
          setOpen(false);
        }}
      />
    );
  }
  return (
    <span className={`${classes.choice} ${className}`} {...(w !== undefined && { style: { width: w } })}>
      <button
        id={id}
        ref={(button) => {
          if (!returns.current) return;
          returns.current = false;
          button?.focus();
        }}
        type="button"
        className="box"
        role="combobox"
        aria-label={label}
        aria-haspopup="listbox"
        aria-expanded={false}
        data-empty={currentLabel === undefined || undefined}
        onClick={() => setOpen(true)}
        onKeyDown={({ key, ctrlKey, metaKey, altKey }) => {
          const typed = key.length === 1 && !ctrlKey && !metaKey && !altKey;
          if (typed || key === 'ArrowDown' || key === 'ArrowUp') setOpen(true);
        }}
      >
        {currentLabel === undefined ? (
          placeholder
        ) : (
          <DistinctName parts={partsAmong(flatOptions(select.data).options.map(labelOf), currentLabel)} />
        )}
      </button>
      <IconSelector size={14} stroke={1.6} aria-hidden="true" />
    </span>
  );
}
