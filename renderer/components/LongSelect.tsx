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
import { type FocusEvent, useMemo, useState } from 'react';
import { DistinctName } from './DistinctName.tsx';
import { flatOptions, type LongData, labelOf, optionsFilter } from './long-options.ts';
import { partsAmong } from './tell-apart.ts';

/** More than fit in a menu. */
const PART = 50;

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
    scrollAreaProps: { onBottomReached: () => setLimit((before) => before + PART) },
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
  return <Select searchable onFocus={selectText} {...select} {...menu} onDropdownClose={close} />;
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

export function LongAutocomplete({ data, ...entry }: Omit<AutocompleteProps, 'data'> & Long) {
  return <Autocomplete {...entry} {...useLongMenu(data)} />;
}
