/** One setting that a sweep varies: the values to try, or for random search a range to draw from. */
import { MultiSelect, Textarea, TextInput, UnstyledButton } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useId } from 'react';
import type { ConfigField } from '../../main/api/contract/index.ts';
import { Choice } from '../components/Choice.tsx';
import { Segments } from '../components/Segments.tsx';
import classes from './NewSweep.module.css';
import { hasRange, typingHint, type VariedField } from './plan-entry.ts';

export interface VariedSettingProps {
  readonly field: ConfigField;
  readonly varied: VariedField;
  readonly random: boolean;
  /** Errors of its values. */
  readonly faults: readonly string[];
  readonly onChange: (change: Partial<VariedField>) => void;
  readonly onRemove: () => void;
}

export function VariedSetting({ field, varied, random, faults, onChange, onRemove }: VariedSettingProps) {
  const id = useId();
  const isRange = random && varied.mode === 'range';
  return (
    <div className={classes.varied} data-bad={faults.length > 0 || undefined}>
      <div className={classes.about}>
        <label htmlFor={id} className="mono">
          {field.name}
        </label>
        <p id={`${id}-doc`}>{field.doc}</p>
      </div>
      <div className={classes.entry}>
        {random && hasRange(field) && (
          <div>
            <Segments
              aria-label={`How ${field.name} is drawn`}
              data={[
                { value: 'values', label: 'from a list' },
                { value: 'range', label: 'from a range' },
              ]}
              value={varied.mode}
              onChange={(mode) => onChange({ mode })}
            />
          </div>
        )}
        {isRange ? (
          <RangeEntry id={id} varied={varied} onChange={onChange} />
        ) : (
          <ValuesEntry id={id} field={field} varied={varied} onChange={onChange} />
        )}
        {faults.map((fault) => (
          <p key={fault} className={classes.fault} role="alert">
            {fault}
          </p>
        ))}
      </div>
      <UnstyledButton className={classes.remove} aria-label={`Don't vary ${field.name}`} onClick={onRemove}>
        <IconX size={14} aria-hidden="true" />
      </UnstyledButton>
    </div>
  );
}

type EntryProps = Pick<VariedSettingProps, 'varied' | 'onChange'> & { readonly id: string };

function RangeEntry({ id, varied, onChange }: EntryProps) {
  const { name, min, max, scale } = varied;
  return (
    <div className={classes.range}>
      <TextInput
        id={id}
        aria-describedby={`${id}-doc`}
        aria-label={`${name}: lowest`}
        placeholder="from"
        inputMode="decimal"
        w={96}
        value={min}
        onChange={(event) => onChange({ min: event.currentTarget.value })}
      />
      <TextInput
        aria-label={`${name}: highest`}
        placeholder="to"
        inputMode="decimal"
        w={96}
        value={max}
        onChange={(event) => onChange({ max: event.currentTarget.value })}
      />
      <Choice
        aria-label={`${name}: scale`}
        data={[
          { value: 'linear', label: 'linear' },
          { value: 'log', label: 'logarithmic' },
        ]}
        value={scale}
        onChange={(chosen) => onChange({ scale: chosen })}
        width={120}
      />
    </div>
  );
}

function ValuesEntry({ id, field, varied, onChange }: EntryProps & { readonly field: ConfigField }) {
  const { input, nullable } = field;
  if (input.kind === 'choice' || input.kind === 'switch') {
    const none = nullable ? ['none'] : [];
    const options = input.kind === 'choice' ? [...input.options, ...none] : ['yes', 'no', ...none];
    return (
      <MultiSelect
        id={id}
        aria-describedby={`${id}-doc`}
        data={options}
        value={[...varied.chosen]}
        placeholder={varied.chosen.length === 0 ? 'Values to try' : undefined}
        onChange={(chosen) => onChange({ chosen })}
      />
    );
  }
  const common = { id, 'aria-describedby': `${id}-doc`, placeholder: typingHint(field), value: varied.text };
  if (input.kind === 'number')
    return <TextInput {...common} onChange={(event) => onChange({ text: event.currentTarget.value })} />;
  return (
    <Textarea {...common} autosize minRows={2} onChange={(event) => onChange({ text: event.currentTarget.value })} />
  );
}
