/** What all stages have in common: asked once when the curriculum is planned, changed for all of them in a drawer. */
import { Button, Select } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Preset } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { BoundedNumber } from '../components/BoundedNumber.tsx';
import { ConfigForm, useConfigFaults } from '../components/config-form/ConfigForm.tsx';
import { entered, ontoStored } from '../components/config-form/entered.ts';
import { FormDrawer, type FormGuard, useChanged } from '../components/config-form/FormDrawer.tsx';
import type { Values } from '../components/config-form/sections.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import classes from './SharedSettings.module.css';
import form from './StageForm.module.css';

export interface Shared {
  readonly preset: string;
  readonly config: Values;
}

const AT_EACH = 'Set at each stage.';
const OF_A_STAGE = {
  dataset: AT_EACH,
  eval_dataset: AT_EACH,
  max_steps: AT_EACH,
  num_train_epochs: AT_EACH,
  from_checkpoint: AT_EACH,
  eval_steps: AT_EACH,
  save_steps: AT_EACH,
  task: "That of each stage's dataset.",
};

function presetFields(presets: readonly Preset[], name: string): Values {
  const fields = presets.find((preset) => preset.name === name)?.fields ?? {};
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !(field in OF_A_STAGE)));
}

/** Presets that stages of word pairs can have. */
function ofTheCurriculum(presets: readonly Preset[]): readonly Preset[] {
  return presets.filter(({ fields }) => (fields.task ?? 'interleave') === 'interleave');
}

/** Model, preset and group size, beside the button that plans the whole curriculum. */
export function SharedChoices({ onChange }: { readonly onChange: (shared: Shared) => void }) {
  const { data: stored, error: unknown, refetch } = useQuery(api.stages.shared.queryOptions());
  const { data: presets = [], error: unread, refetch: readAgain } = useQuery(api.config.presets.queryOptions());
  const { data: models = [] } = useQuery(api.models.list.queryOptions());
  const [chosen, setChosen] = useState<Shared | null>(null);
  if (stored === undefined || presets.length === 0) {
    const error = unknown ?? unread;
    const retry = (): void => void Promise.all([refetch(), readAgain()]);
    return error === null ? (
      <Loading what="the settings" />
    ) : (
      <Failed what="The settings can't be read" error={error} onRetry={retry} />
    );
  }
  const shared = chosen ?? stored;
  const set = (next: Shared): void => {
    setChosen(next);
    onChange(next);
  };
  const values: Values = { ...presetFields(presets, shared.preset), ...shared.config };
  const whole = models.filter(({ run, deleted, problem }) => run === null && !deleted && problem === null);
  const options = whole.map(({ model, name }) => ({ value: model, label: name }));
  const model = String(values.model ?? 'tiny');
  if (!options.some(({ value }) => value === model)) options.push({ value: model, label: `${model} (not here yet)` });
  return (
    <div className={classes.choices}>
      <Select
        label="Model"
        data={options}
        value={model}
        allowDeselect={false}
        searchable
        onChange={(value) => value !== null && set({ ...shared, config: { ...shared.config, model: value } })}
      />
      <Select
        label="Preset"
        data={ofTheCurriculum(presets).map(({ name }) => name)}
        value={shared.preset}
        allowDeselect={false}
        onChange={(preset) => preset !== null && set({ preset, config: {} })}
      />
      <BoundedNumber
        label="Completions per prompt"
        min={2}
        max={10_000}
        value={Number(values.num_generations ?? 8)}
        onChange={(count) => set({ ...shared, config: { ...shared.config, num_generations: count } })}
      />
    </div>
  );
}

export interface SharedSettingsProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function SharedSettings({ opened, onClose }: SharedSettingsProps) {
  // Also while it is closed: what it opens with must be what was saved last.
  const { data: stored, error, refetch } = useQuery(api.stages.shared.queryOptions());
  const {
    data: presets,
    error: unread,
    refetch: readAgain,
  } = useQuery(api.config.presets.queryOptions({ enabled: opened }));
  const problem = error ?? unread;
  const retry = (): void => void Promise.all([refetch(), readAgain()]);
  return (
    <FormDrawer opened={opened} onClose={onClose} title="Settings of all stages">
      {(guard) => (
        <>
          {problem !== null && <Failed what="The settings can't be read" error={problem} onRetry={retry} />}
          {problem === null && (stored === undefined || presets === undefined) && <Loading what="the settings" />}
          {stored !== undefined && presets !== undefined && (
            <Form stored={stored} presets={presets} {...guard} onSaved={onClose} />
          )}
        </>
      )}
    </FormDrawer>
  );
}

interface FormProps extends FormGuard {
  readonly stored: Shared;
  readonly presets: readonly Preset[];
  readonly onSaved: () => void;
}

function Form({ stored, presets, onClose, onChanged, onSaved }: FormProps) {
  const [opened] = useState(stored);
  const [preset, setPreset] = useState(stored.preset);
  const [own, setOwn] = useState<Values>(stored.config);
  useChanged([preset, own], onChanged);
  const defaults = presetFields(presets, preset);
  const faults = useConfigFaults({ ...defaults, ...own });
  const save = useMutation({
    mutationFn: () =>
      client.stages.changeShared({
        preset: entered({ preset }, opened).preset ?? stored.preset,
        config: { ...ontoStored(own, opened.config, stored.config) },
      }),
    onSuccess: onSaved,
  });
  return (
    <SubmitForm className={form.form} onSubmit={() => save.mutate()}>
      <p className="soft">
        Every stage that is still to start takes these. What you set at a stage itself goes before them; its name,
        dataset, steps and rule are set there. Stages of long texts can have a smaller default learning_rate; a rate set
        here applies to all stages. With another model, a stage starts from that model instead of the checkpoint before
        it.
      </p>
      <Select
        label="Preset"
        data={ofTheCurriculum(presets).map(({ name, doc }) => ({ value: name, label: `${name}: ${doc}` }))}
        value={preset}
        allowDeselect={false}
        onChange={(name) => name !== null && setPreset(name)}
      />
      <ConfigForm defaults={defaults} own={own} onChange={setOwn} faults={faults} elsewhere={OF_A_STAGE} />
      <div className={form.foot}>
        {save.error !== null && <Failed what="The settings were not saved" error={save.error} />}
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={save.isPending} disabled={faults.length > 0}>
          Save
        </Button>
      </div>
    </SubmitForm>
  );
}
