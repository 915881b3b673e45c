/** Selects with options by the thousand: searched by typing, and rendered as far as one scrolls. */
import {
  Autocomplete,
  type AutocompleteProps,
  MultiSelect,
  type MultiSelectProps,
  Pill,
  Select,
  type SelectProps,
} from '@mantine/core';
import { type FocusEvent, type UIEvent, useMemo, useState } from 'react';
import { DistinctName } from './DistinctName.tsx';
import classes from './LongSelect.module.css';
import { flatOptions, type LongData, labelOf, optionsFilter } from './long-options.ts';
import { partsAmong } from './tell-apart.ts';

/** More than fit in a menu. */
const PART = 50;
/** How close to its end more are rendered, in pixels. */
const NEAR = 300;

interface Long {
  readonly data: LongData;
}

function useLongMenu(data: LongData) {
  const [limit, setLimit] = useState(PART);
  const { options, filter } = useMemo(() => {
    const flat = flatOptions(data);
    return { options: flat.options, filter: optionsFilter(flat.groups) };
  }, [data]);
  return {
    data: options,
    filter,
    limit,
    attributes: {
      options: {
        onScroll: ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent<HTMLElement>) => {
          if (scrollHeight - scrollTop - clientHeight < NEAR) setLimit((before) => before + PART);
        },
      },
    },
    onDropdownClose: () => setLimit(PART),
  };
}

/** Typing replaces what is selected, and finds others. */
const selectText = ({ currentTarget }: FocusEvent<HTMLInputElement>): void => currentTarget.select();

export function LongSelect({ data, onDropdownClose, ...select }: Omit<SelectProps, 'data'> & Long) {
  const menu = useLongMenu(data);
  const close = (): void => {
    menu.onDropdownClose();
    onDropdownClose?.();
  };
  const labels = useMemo(() => menu.data.map(labelOf), [menu.data]);
  const chosen = menu.data.find((option) => (typeof option === 'string' ? option : option.value) === select.value);
  return (
    <Select
      searchable
      onFocus={selectText}
      // A field cuts its text at the end, where long names differ.
      inputContainer={(field) => (
        <div className={classes.field}>
          {field}
          {chosen !== undefined && (
            <span className={classes.shown} aria-hidden="true">
              <DistinctName parts={partsAmong(labels, labelOf(chosen))} />
            </span>
          )}
        </div>
      )}
      {...select}
      {...menu}
      onDropdownClose={close}
    />
  );
}

export function LongMultiSelect({ data, ...select }: Omit<MultiSelectProps, 'data'> & Long) {
  const menu = useLongMenu(data);
  const labels = useMemo(() => menu.data.map(labelOf), [menu.data]);
  return (
    <MultiSelect
      {...select}
      {...menu}
      searchable
      renderPill={({ option: { label }, onRemove }) => (
        <Pill
          className="mantine-MultiSelect-pill"
          maw="calc(100% - 16px)"
          withRemoveButton
          onRemove={() => onRemove?.()}
        >
          <DistinctName parts={partsAmong(labels, label)} />
        </Pill>
      )}
    />
  );
}

/** Any text, or one of the options: all of them until something is typed, whatever the field has. */
export function LongAutocomplete({ data, onChange, ...entry }: Omit<AutocompleteProps, 'data'> & Long) {
  const [typed, setTyped] = useState(false);
  const menu = useLongMenu(data);
  return (
    <Autocomplete
      {...entry}
      {...menu}
      filter={(input) => menu.filter(typed ? input : { ...input, search: '' })}
      onChange={(text) => {
        setTyped(true);
        onChange?.(text);
      }}
      onDropdownClose={() => {
        setTyped(false);
        menu.onDropdownClose();
      }}
    />
  );
}
