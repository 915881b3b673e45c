/** Search filters: words, reward, exactness, ending and one component, turns or calls, in this run or in all. */
import { Checkbox, TextInput } from '@mantine/core';
import { useThrottledCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { Choice } from '../components/Choice.tsx';
import { NumberField } from '../components/NumberField.tsx';
import type { Filter } from './place.ts';
import classes from './Samples.module.css';

export interface FilterBarProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  /** Names of the reward's components; with a space: what is counted in conversations. */
  readonly components: readonly string[];
}

type Answer = 'any' | 'yes' | 'no';

const exactness: WhetherProps['data'] = [
  { value: 'any', label: 'exact or not' },
  { value: 'yes', label: 'exact only' },
  { value: 'no', label: 'not exact' },
];
const endings: WhetherProps['data'] = [
  { value: 'any', label: 'ended or cut off' },
  { value: 'no', label: 'cut off only' },
  { value: 'yes', label: 'ended only' },
];
/** Throttles typing: the first letter is searched at once, faster ones together. A search takes less time than this. */
const SEARCH_MS = 40;

const isCounted = (name: string): boolean => name.includes(' ');

export function FilterBar({ filter, onFilter, components }: FilterBarProps) {
  const [words, setWords] = useState(filter.words ?? '');
  const search = useThrottledCallback((typed: string) => onFilter({ ...filter, words: typed }), SEARCH_MS);
  const { component } = filter;
  // The search field is focused when the view opens.
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <search className={classes.filters} aria-label="Filters">
      <TextInput
        className={classes.words}
        aria-label="Search completions"
        placeholder="Search completions"
        leftSection={<IconSearch size={14} aria-hidden="true" />}
        ref={field}
        maxLength={500}
        value={words}
        onChange={({ currentTarget }) => {
          setWords(currentTarget.value);
          search(currentTarget.value);
        }}
      />
      <Checkbox
        label="also in prompts"
        checked={filter.inPrompts ?? false}
        onChange={({ currentTarget }) => onFilter({ ...filter, inPrompts: currentTarget.checked || undefined })}
      />
      <Choice
        aria-label="Runs to search"
        width={100}
        data={[
          { value: 'one', label: 'this run' },
          { value: 'all', label: 'all runs' },
        ]}
        value={filter.everyRun ? 'all' : 'one'}
        onChange={(value) => onFilter({ ...filter, everyRun: value === 'all' })}
      />
      <Bound
        label="reward >"
        name="Reward above"
        value={filter.above}
        onValue={(above) => onFilter({ ...filter, above })}
      />
      <Bound
        label="reward <"
        name="Reward below"
        value={filter.below}
        onValue={(below) => onFilter({ ...filter, below })}
      />
      <Whether
        label="Exactness"
        data={exactness}
        value={filter.exact}
        onValue={(exact) => onFilter({ ...filter, exact })}
      />
      <Whether
        label="Ending"
        data={endings}
        value={filter.terminated}
        onValue={(terminated) => onFilter({ ...filter, terminated })}
      />
      <Choice
        aria-label="Reward component"
        width={150}
        data={[
          { value: '', label: components.some(isCounted) ? 'component, turns, calls' : 'reward component' },
          ...components.map((name) => ({ value: name, label: name })),
        ]}
        value={component?.name ?? ''}
        onChange={(name) => onFilter({ ...filter, component: name === '' ? undefined : { ...component, name } })}
      />
      {component !== undefined && (
        <>
          <Bound
            label=">"
            name={`${component.name} above`}
            value={component.above}
            onValue={(above) => onFilter({ ...filter, component: { ...component, above } })}
          />
          <Bound
            label="<"
            name={`${component.name} below`}
            value={component.below}
            onValue={(below) => onFilter({ ...filter, component: { ...component, below } })}
          />
        </>
      )}
    </search>
  );
}

interface WhetherProps {
  readonly label: string;
  readonly data: readonly { readonly value: Answer; readonly label: string }[];
  readonly value: boolean | undefined;
  readonly onValue: (value: boolean | undefined) => void;
}

/** Yes, no, or either. */
function Whether({ label, data, value, onValue }: WhetherProps) {
  return (
    <Choice
      aria-label={label}
      width={130}
      data={data}
      value={value === undefined ? 'any' : value ? 'yes' : 'no'}
      onChange={(chosen) => onValue(chosen === 'any' ? undefined : chosen === 'yes')}
    />
  );
}

interface BoundProps {
  readonly label: string;
  readonly name: string;
  readonly value: number | undefined;
  readonly onValue: (value: number | undefined) => void;
}

function Bound({ label, name, value, onValue }: BoundProps) {
  return (
    <span className={classes.bound}>
      <span aria-hidden="true">{label}</span>
      <NumberField
        hidesLabel
        label={name}
        width={58}
        step={0.05}
        value={value ?? null}
        onChange={(next) => onValue(next ?? undefined)}
      />
    </span>
  );
}
