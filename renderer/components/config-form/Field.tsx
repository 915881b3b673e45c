/** One setting: its name as in files and papers, its description and control, and whether it was changed. */
import { MultiSelect, Select, Switch, TextInput, UnstyledButton } from '@mantine/core';
import { useId, useState } from 'react';
import type { ConfigFault, ConfigField } from '../../../main/api/contract/index.ts';
import { LongAutocomplete } from '../LongSelect.tsx';
import classes from './ConfigForm.module.css';
import { faultInWords, formatValue, numberFrom, numbersFrom, textsFrom, variablesFrom } from './entry.ts';

export interface FieldProps {
  readonly field: ConfigField;
  readonly value: unknown;
  /** The value if it isn't set. */
  readonly defaultValue: unknown;
  readonly isChanged: boolean;
  readonly fault: ConfigFault | null;
  readonly suggestions: readonly string[];
  readonly onChange: (value: unknown) => void;
  readonly onReset: () => void;
}

export function Field(props: FieldProps) {
  const { field, defaultValue, isChanged, fault, onReset } = props;
  const id = useId();
  return (
    <div className={classes.field} data-changed={isChanged || undefined} data-bad={fault !== null || undefined}>
      <div className={classes.about}>
        <label htmlFor={id} className="mono">
          {field.name}
        </label>
        <p id={`${id}-doc`}>{field.doc}</p>
      </div>
      <div className={classes.entry}>
        <div className={classes.control}>
          <Control {...props} id={id} />
          {field.unit !== null && <span className="faint">{field.unit}</span>}
        </div>
        {fault !== null && (
          <p className={classes.fault} id={`${id}-fault`} role="alert">
            {faultInWords(field.input.kind, props.value, fault)}
          </p>
        )}
        {isChanged && (
          <UnstyledButton className={classes.reset} onClick={onReset}>
            <span className="visually-hidden">{field.name} </span>changed; reset to {formatValue(defaultValue)}
          </UnstyledButton>
        )}
      </div>
    </div>
  );
}

type ControlProps = FieldProps & { readonly id: string };

function Control({ id, field, value, fault, suggestions, onChange }: ControlProps) {
  const common = { id, 'aria-describedby': fault === null ? `${id}-doc` : `${id}-doc ${id}-fault`, w: 210 };
  // A menu has no label of its own.
  const menu = { ...common, 'aria-label': field.name };
  const { input, nullable } = field;
  switch (input.kind) {
    case 'switch':
      if (nullable) return <MaybeSwitch {...common} value={value} onChange={onChange} />;
      return (
        <Switch
          id={id}
          aria-describedby={common['aria-describedby']}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'choice':
      return (
        <Select
          {...menu}
          data={[...input.options]}
          value={String(value)}
          allowDeselect={false}
          onChange={(chosen) => onChange(chosen)}
        />
      );
    case 'choices':
      return (
        <MultiSelect
          {...menu}
          w={340}
          data={[...input.options]}
          value={Array.isArray(value) ? value.map(String) : []}
          onChange={onChange}
        />
      );
    case 'text':
      return (
        <LongAutocomplete
          {...menu}
          size="xs"
          w={340}
          data={[...suggestions]}
          value={value === null || value === undefined ? '' : String(value)}
          placeholder={nullable ? 'none' : undefined}
          onChange={(text) => onChange(text === '' && nullable ? null : text)}
        />
      );
    case 'texts': {
      // As JSON: a text may be a line end, or have a comma.
      const shown = Array.isArray(value) && value.length > 0 ? JSON.stringify(value) : '';
      return <Typed {...common} value={shown} nullable={nullable} parse={textsFrom} onChange={onChange} />;
    }
    case 'number':
    case 'numbers':
    case 'variables': {
      const parse = { number: numberFrom, numbers: numbersFrom, variables: variablesFrom }[input.kind];
      return <Typed {...common} value={value} nullable={nullable} parse={parse} onChange={onChange} />;
    }
  }
}

interface EntryProps {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly w: number;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function MaybeSwitch({ value, onChange, ...rest }: EntryProps) {
  const options = [
    { value: 'null', label: 'automatic' },
    { value: 'true', label: 'yes' },
    { value: 'false', label: 'no' },
  ];
  return (
    <Select
      {...rest}
      data={options}
      value={String(value)}
      allowDeselect={false}
      onChange={(chosen) => onChange(chosen === 'null' ? null : chosen === 'true')}
    />
  );
}

interface TypedProps extends EntryProps {
  readonly nullable: boolean;
  readonly parse: (text: string, nullable: boolean) => unknown;
}

/** A text field for numbers: input stays as typed ("1e-", "0.") until the field loses focus. */
function Typed({ value, nullable, parse, onChange, ...rest }: TypedProps) {
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <TextInput
      {...rest}
      classNames={{ input: 'num' }}
      inputMode="decimal"
      value={draft ?? formatValue(value, '')}
      placeholder={nullable ? 'automatic' : undefined}
      onChange={(event) => {
        setDraft(event.currentTarget.value);
        onChange(parse(event.currentTarget.value, nullable));
      }}
      onBlur={() => setDraft(null)}
    />
  );
}
