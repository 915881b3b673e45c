/** A searchable select for long lists. Until it is opened only a button is rendered, which is much cheaper. */
import { Select, type SelectProps } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import { useState } from 'react';
import classes from './Choice.module.css';
import { DistinctName } from './DistinctName.tsx';
import { tellApart } from './tell-apart.ts';

export interface LongChoiceProps extends Omit<SelectProps, 'label'> {
  readonly 'aria-label': string;
  readonly className?: string | undefined;
  /** Label of the selected option; undefined shows the placeholder. */
  readonly currentLabel: string | undefined;
}

/** Of all options, which may be in groups. */
function labelsOf(data: SelectProps['data']): string[] {
  const options = (data ?? []).flatMap((option) =>
    typeof option !== 'string' && 'group' in option ? option.items : [option],
  );
  return options.flatMap((option) => (typeof option === 'string' ? option : 'label' in option ? option.label : []));
}

export function LongChoice({ currentLabel, ...select }: LongChoiceProps) {
  const [asked, setAsked] = useState(false);
  const { className = '', placeholder, 'aria-label': label } = select;
  if (asked) {
    // Typing replaces the current selection.
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
        data-empty={currentLabel === undefined || undefined}
        onClick={() => setAsked(true)}
        onKeyDown={({ key, ctrlKey, metaKey, altKey }) => {
          const typed = key.length === 1 && !ctrlKey && !metaKey && !altKey;
          if (typed || key === 'ArrowDown' || key === 'ArrowUp') setAsked(true);
        }}
      >
        {currentLabel === undefined ? (
          placeholder
        ) : (
          <DistinctName parts={tellApart(labelsOf(select.data))(currentLabel)} />
        )}
      </button>
      <IconSelector size={14} stroke={1.6} aria-hidden="true" />
    </span>
  );
}
