/** One setting: control, unit, description, and reset to the default. */
import { Switch, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState } from 'react';
import type { SettingField, SettingsChange } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { NumberEntry } from '../components/NumberEntry.tsx';
import { PlainButton } from '../components/PlainButton.tsx';
import { Segments } from '../components/Segments.tsx';
import classes from './Settings.module.css';

type Value = string | number | boolean;

export interface SettingProps {
  readonly field: SettingField;
  readonly value: Value;
}

export function Setting({ field, value }: SettingProps) {
  const queries = useQueryClient();
  const id = useId();
  const save = useMutation({
    mutationFn: (next: Value) => client.settings.set({ [field.name]: next } as SettingsChange),
    onSuccess: (settings) => queries.setQueryData(api.settings.get.queryKey(), settings),
  });
  // Shows the new value while saving; a failure restores the stored one.
  const shown = save.isPending ? save.variables : value;
  const set = (next: Value): void => {
    if (next !== value) save.mutate(next);
  };
  return (
    <div className={classes.setting}>
      <div className={classes.name}>
        <span id={id}>{field.label}</span>
        <p id={`${id}-doc`}>{field.doc}</p>
      </div>
      <div className={classes.control}>
        <Control field={field} value={shown} onChange={set} labelledBy={id} />
        {field.unit !== null && <span className="soft">{field.unit}</span>}
      </div>
      <div className={classes.state}>
        {save.isSuccess && value === save.variables && <span role="status">saved</span>}
        {value !== field.default && (
          <PlainButton className={classes.reset} onClick={() => set(field.default)}>
            Reset to {formatValue(field.default)}
          </PlainButton>
        )}
      </div>
      {save.error !== null && (
        <div className={classes.failed}>
          <Failed what={`${field.label} was not saved; the old value is kept`} error={save.error} />
        </div>
      )}
    </div>
  );
}

interface ControlProps {
  readonly field: SettingField;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly labelledBy: string;
}

function Control({ field, value, onChange, labelledBy }: ControlProps) {
  const described = { 'aria-labelledby': labelledBy, 'aria-describedby': `${labelledBy}-doc` };
  switch (field.kind) {
    case 'switch':
      return (
        <Switch {...described} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
      );
    case 'choice':
      return <Segments {...described} data={[...field.choices]} value={String(value)} onChange={onChange} />;
    case 'number':
      return <NumberField {...{ field, described }} value={Number(value)} onChange={onChange} />;
    case 'text':
      return <TextField {...{ field, described }} value={String(value)} onChange={onChange} />;
  }
}

interface DraftProps<F, V> {
  readonly field: F;
  readonly value: V;
  readonly onChange: (value: V) => void;
  readonly described: Readonly<Record<string, string>>;
}

/** A draft of the typed value; reset when the stored value changes. */
function useDraft<V>(value: V) {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  return [draft, setDraft] as const;
}

/** Leaving the screen by a key or a notification blurs nothing: what was typed is saved then too. */
function useCommitOnLeave(commit: () => unknown): void {
  const latest = useRef(commit);
  latest.current = commit;
  useEffect(() => () => void latest.current(), []);
}

/** Saved on blur, on Enter and on leaving, so that a half-typed number isn't saved. */
function NumberField({ field, value, onChange, described }: DraftProps<SettingField & { kind: 'number' }, number>) {
  const [draft, setDraft] = useDraft<number | null>(value);
  const commit = (): void => {
    setDraft(draft ?? value);
    onChange(draft ?? value);
  };
  useCommitOnLeave(() => draft !== value && commit());
  return (
    <NumberEntry
      {...described}
      w={120}
      {...(field.min !== null && { min: field.min })}
      {...(field.max !== null && { max: field.max })}
      step={field.whole ? 1 : 0.05}
      value={draft}
      onChange={setDraft}
      onBlur={commit}
      onKeyDown={({ key }) => key === 'Enter' && commit()}
    />
  );
}

function TextField({ field, value, onChange, described }: DraftProps<SettingField & { kind: 'text' }, string>) {
  const [draft, setDraft] = useDraft(value);
  useCommitOnLeave(() => draft !== value && onChange(draft));
  return (
    <TextInput
      {...described}
      w={120}
      {...(field.maxLength !== null && { maxLength: field.maxLength })}
      value={draft}
      onChange={(event) => setDraft(event.currentTarget.value)}
      onBlur={() => onChange(draft)}
      onKeyDown={({ key }) => key === 'Enter' && onChange(draft)}
    />
  );
}

function formatValue(value: Value): string {
  return value === true ? 'on' : value === false ? 'off' : String(value);
}
