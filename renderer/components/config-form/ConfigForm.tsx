/**
 * A run's configuration as a form, generated from the field table: important fields first, errors beside their fields.
 */
import { Button, Select, Switch, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import type { ConfigFault, ConfigField, Preset } from '../../../main/api/contract/index.ts';
import { api } from '../../api/client.ts';
import { Failed, Loading } from '../Feedback.tsx';
import classes from './ConfigForm.module.css';
import { Field } from './Field.tsx';
import { OpenYaml } from './OpenYaml.tsx';
import { changesOf, type Elsewhere, fieldSections, foundElsewhere, type Section, type Values } from './sections.ts';

export interface ConfigFormProps {
  /** Values of the fields that the user hasn't set. */
  readonly defaults: Values;
  /** Values that the user has set. */
  readonly own: Values;
  readonly onChange: (own: Values) => void;
  readonly faults: readonly ConfigFault[];
  readonly elsewhere?: Elsewhere;
}

const nowhere: Elsewhere = {};

export function ConfigForm({ defaults, own, onChange, faults, elsewhere = nowhere }: ConfigFormProps) {
  const fields = useQuery(api.config.fields.queryOptions());
  const presets = useQuery(api.config.presets.queryOptions());
  const [search, setSearch] = useState('');
  const [onlyChanged, setOnlyChanged] = useState(false);
  const suggestions = useSuggestions();
  const sections = useMemo(
    () => fieldSections(fields.data ?? [], { search, elsewhere, own, onlyChanged, faults }),
    [fields.data, search, elsewhere, own, onlyChanged, faults],
  );
  if (fields.data === undefined) {
    if (fields.error === null) return <Loading what="the settings" />;
    return <Failed what="The settings can't be shown" error={fields.error} onRetry={() => void fields.refetch()} />;
  }

  const set = (name: string, value: unknown): void => onChange({ ...own, [name]: value });
  const reset = (name: string): void =>
    onChange(Object.fromEntries(Object.entries(own).filter(([key]) => key !== name)));
  const row = (field: ConfigField) => (
    <Field
      key={field.name}
      field={field}
      value={field.name in own ? own[field.name] : defaultOf(field, defaults)}
      isChanged={field.name in own}
      defaultValue={defaultOf(field, defaults)}
      fault={faults.find((fault) => fault.field === field.name) ?? null}
      suggestions={suggestions[field.name] ?? []}
      onChange={(value) => set(field.name, value)}
      onReset={() => reset(field.name)}
    />
  );
  const others = foundElsewhere(fields.data, { search, elsewhere });
  const unknown = faults.filter(({ field }) => !fields.data.some(({ name }) => name === field));
  return (
    <div className={classes.form}>
      <div className={classes.tools}>
        <TextInput
          placeholder="Find a setting"
          aria-label="Find a setting"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          className={classes.search}
        />
        <Switch
          label={`Only changed (${Object.keys(own).length})`}
          checked={onlyChanged}
          onChange={(event) => setOnlyChanged(event.currentTarget.checked)}
        />
        <span className={classes.gap} />
        <Presets
          presets={presets.data ?? []}
          elsewhere={elsewhere}
          onChoose={(chosen) => onChange({ ...own, ...chosen })}
        />
        <OpenYaml
          onOpen={(file) => {
            const known = (fields.data ?? []).filter(({ name }) => !(name in elsewhere));
            onChange(changesOf(known, file, (field) => defaultOf(field, defaults)));
          }}
        />
        <Button variant="default" disabled={Object.keys(own).length === 0} onClick={() => onChange({})}>
          Reset all
        </Button>
      </div>
      {unknown.map((fault) => (
        <p key={fault.field} className={classes.fault} role="alert">
          {fault.message}
        </p>
      ))}
      {sections.map(({ title, open, rows }) => (
        <SectionView key={title} {...{ title, open, rows, row }} />
      ))}
      {others.map(({ name, doc }) => (
        <p key={name} className={classes.elsewhere}>
          <span className="mono">{name}</span> {doc} {elsewhere[name]}
        </p>
      ))}
      {sections.length + others.length === 0 && (
        <p className="soft">No {onlyChanged && 'changed '}setting matches the search.</p>
      )}
    </div>
  );
}

interface SectionViewProps extends Section {
  readonly row: (field: ConfigField) => ReactNode;
}

/** Its fields are made once it is opened: most of the form's many are never looked at. */
function SectionView({ title, open, rows, row }: SectionViewProps) {
  const [wasOpened, setWasOpened] = useState(false);
  return (
    <details
      className={classes.section}
      open={open}
      onToggle={({ currentTarget }) => currentTarget.open && setWasOpened(true)}
    >
      <summary>
        {title} <span className="faint">{rows.length}</span>
      </summary>
      {(open || wasOpened) && rows.map(row)}
    </details>
  );
}

function defaultOf({ name, default: value }: ConfigField, defaults: Values): unknown {
  return name in defaults ? defaults[name] : value;
}

interface PresetsProps {
  readonly presets: readonly Preset[];
  readonly elsewhere: Elsewhere;
  readonly onChoose: (fields: Values) => void;
}

/** Applies a preset's fields; other changes are kept. */
function Presets({ presets, elsewhere, onChoose }: PresetsProps) {
  return (
    <Select
      aria-label="Apply a preset"
      placeholder="Apply a preset"
      data={presets.map(({ name, doc }) => ({ value: name, label: `${name}: ${doc}` }))}
      value={null}
      onChange={(name) => {
        const fields = presets.find((preset) => preset.name === name)?.fields ?? {};
        onChoose(Object.fromEntries(Object.entries(fields).filter(([field]) => !(field in elsewhere))));
      }}
      w={180}
      comboboxProps={{ width: 420, position: 'bottom-end' }}
    />
  );
}

/** The host's validation errors for a configuration; the last result stays until the next one arrives. */
export function useConfigFaults(config: Values): readonly ConfigFault[] {
  const { data } = useQuery(
    api.config.check.queryOptions({
      input: { config: { ...config } },
      placeholderData: (before) => before,
      gcTime: 1000,
    }),
  );
  return data ?? [];
}

/** Suggestions for fields that name a file or a model. */
function useSuggestions(): Readonly<Record<string, readonly string[]>> {
  const { data: models = [] } = useQuery(api.models.list.queryOptions());
  const { data: datasets = [] } = useQuery(api.datasets.list.queryOptions());
  const { data: engines } = useQuery(api.engines.list.queryOptions());
  const usable = models.filter(({ problem, deleted }) => problem === null && !deleted);
  return {
    model: usable.filter(({ kind }) => kind !== 'checkpoint').map(({ model }) => model),
    from_checkpoint: usable.filter(({ kind }) => kind === 'checkpoint').map(({ folder }) => folder),
    engine: engines?.engines.map(({ name }) => name) ?? [],
    dataset: [...new Set(datasets.map(({ file }) => file))],
  };
}
