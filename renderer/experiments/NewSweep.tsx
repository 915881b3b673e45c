/** The form of a sweep: what varies, seeds, successive halving, the settings of all runs, and what it takes. */
import { Button, Select, Switch, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { ConfigField, Preset } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { ConfigForm } from '../components/config-form/ConfigForm.tsx';
import { FormDrawer, type FormGuard, useChanged } from '../components/config-form/FormDrawer.tsx';
import { newestDataset } from '../components/config-form/free-run.ts';
import type { Elsewhere, Values } from '../components/config-form/sections.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { JobProgress } from '../components/JobProgress.tsx';
import { Link } from '../components/Link.tsx';
import { NumberField } from '../components/NumberField.tsx';
import { Segments } from '../components/Segments.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import { useWaitedFor } from '../components/use-waited-for.ts';
import classes from './NewSweep.module.css';
import { newField, type PlanEntry, planFor, planOf, type VariedField } from './plan-entry.ts';
import { VariedSetting } from './VariedSetting.tsx';
import { estimateInWords, stepList } from './words.ts';

/** The preset that the common settings start from. */
const PRESET = 'interleave-tiny';
const SHOWN_SETTINGS = 12;

export interface NewSweepProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** A run whose settings its runs share, instead of a preset's. */
  readonly like?: SweptRun;
}

export interface SweptRun {
  readonly runId: number;
  readonly config: Values;
}

export function NewSweep({ opened, onClose, like }: NewSweepProps) {
  const fields = useQuery(api.config.fields.queryOptions());
  const presets = useQuery(api.config.presets.queryOptions());
  const datasets = useQuery(api.datasets.list.queryOptions());
  const error = fields.error ?? presets.error ?? datasets.error;
  const retry = (): void => void Promise.all([fields.refetch(), presets.refetch(), datasets.refetch()]);
  return (
    <FormDrawer opened={opened} onClose={onClose} title="New sweep">
      {(guard) => {
        if (fields.data === undefined || presets.data === undefined || datasets.data === undefined)
          return error === null ? (
            <Loading what="the settings" />
          ) : (
            <Failed what="The settings can't be read" error={error} onRetry={retry} />
          );
        const preset = presetFields(presets.data);
        const dataset = newestDataset(datasets.data, preset.task) ?? '';
        const defaults = like?.config ?? { ...preset, dataset };
        return <Form fields={fields.data} defaults={defaults} like={like?.runId} {...guard} />;
      }}
    </FormDrawer>
  );
}

/** Set by the plan. */
function ofThePlan(varied: readonly string[]): Elsewhere {
  return { seed: 'Set above: Seeds.', ...Object.fromEntries(varied.map((name) => [name, 'Set above: it varies.'])) };
}

function presetFields(presets: readonly Preset[]): Values {
  return presets.find(({ name }) => name === PRESET)?.fields ?? {};
}

interface FormProps extends FormGuard {
  readonly fields: readonly ConfigField[];
  readonly defaults: Values;
  readonly like: number | undefined;
}

function Form({ fields, defaults, like, onClose, onChanged }: FormProps) {
  const [entry, setEntry] = useState<PlanEntry>(() => planFor(like));
  const [own, setOwn] = useState<Values>({});
  useChanged([entry, own], onChanged);
  const [, navigate] = useLocation();
  const random = entry.search === 'random';
  const change = (part: Partial<PlanEntry>): void => setEntry({ ...entry, ...part });
  const changeField = (name: string, part: Partial<VariedField>): void =>
    change({ varied: entry.varied.map((varied) => (varied.name === name ? { ...varied, ...part } : varied)) });
  const plan = planOf(entry, fields);
  const names = entry.varied.map(({ name }) => name);
  const base = like === undefined ? { preset: PRESET } : { like };
  const asked = { ...base, config: { dataset: defaults.dataset, ...own }, plan };
  const checked = useQuery(
    api.sweeps.preview.queryOptions({ input: asked, placeholderData: (before) => before, gcTime: 1000 }),
  );
  const { data } = checked;
  const lacksDataset = { ...defaults, ...own }.dataset === '' && !names.includes('dataset');
  // That none was chosen isn't an error of what was typed.
  const faults = (data?.faults ?? []).filter(({ field }) => field !== 'dataset' || !lacksDataset);
  const others = faults.filter(({ field }) => !names.includes(field));
  const problem = data?.problem ?? null;
  // The host has found it to be a plan.
  const input = asked as typeof asked & Parameters<typeof client.sweeps.start>[0];
  const estimate = useWaitedFor((plan: typeof input, options) => client.sweeps.estimate(plan, options));
  const isOfThisPlan = JSON.stringify(estimate.variables) === JSON.stringify(input);
  const start = useMutation({
    mutationFn: () => client.sweeps.start(input),
    onSuccess: ({ sweepId }) => {
      onChanged(false);
      navigate(`/experiments/${sweepId}`);
    },
  });
  const blocked = data === undefined || lacksDataset || problem !== null || faults.length > 0 || estimate.isPending;
  return (
    <SubmitForm onSubmit={() => start.mutate()}>
      {like !== undefined && <p className="soft">Same settings as run {like}, except for those that vary or change.</p>}
      <div className={classes.row}>
        <TextInput
          label="Name"
          w={240}
          value={entry.name}
          maxLength={60}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        <TextInput
          label="Seeds"
          w={200}
          value={entry.seeds}
          onChange={(event) => change({ seeds: event.currentTarget.value })}
        />
      </div>
      <h3 className={classes.heading}>What varies</h3>
      <div className={classes.row}>
        <Segments
          aria-label="Search"
          data={[
            { value: 'grid', label: 'every combination' },
            { value: 'random', label: 'random draws' },
          ]}
          value={entry.search}
          onChange={(search) => change({ search })}
        />
        {random && (
          <NumberField
            label="Settings to draw"
            value={entry.trials}
            onChange={(trials) => trials !== null && change({ trials })}
            min={1}
            max={500}
            width={120}
          />
        )}
        <Select
          aria-label="Add a setting to vary"
          placeholder="Add a setting to vary"
          searchable
          w={260}
          data={choicesOf(fields, names)}
          value={null}
          onChange={(name) => {
            const field = fields.find((one) => one.name === name);
            if (field !== undefined) change({ varied: [...entry.varied, newField(field)] });
          }}
        />
      </div>
      {entry.varied.map((varied) => {
        const field = fields.find(({ name }) => name === varied.name);
        return (
          field !== undefined && (
            <VariedSetting
              key={varied.name}
              field={field}
              varied={varied}
              random={random}
              faults={[...new Set(faults.flatMap((fault) => (fault.field === varied.name ? fault.message : [])))]}
              onChange={(part) => changeField(varied.name, part)}
              onRemove={() => change({ varied: entry.varied.filter(({ name }) => name !== varied.name) })}
            />
          )
        );
      })}
      {entry.varied.length === 0 && <p className="soft">Without any, the same settings are trained with each seed.</p>}
      <Halving entry={entry} onChange={change} />
      <details className={classes.common}>
        <summary>Settings of all runs</summary>
        <ConfigForm
          defaults={defaults}
          own={own}
          onChange={setOwn}
          faults={others.map(({ field, message, remedy }) => ({ field, message, remedy }))}
          elsewhere={ofThePlan(names)}
        />
      </details>
      <div className={classes.foot}>
        <div className={classes.preview} role="status">
          {problem !== null && <span className={classes.fault}>{problem}</span>}
          {problem === null && faults.length > 0 && (
            <span className={classes.fault}>
              To start, fix {[...new Set(faults.map(({ field }) => field))].join(', ')}
              {others[0] !== undefined && ` (${others[0].field}: ${others[0].message})`}
            </span>
          )}
          {lacksDataset && problem === null && faults.length === 0 && (
            <>
              To start, choose a dataset. <Link href="/texts/make">Make a dataset</Link>
            </>
          )}
          {!blocked && data?.preview != null && <Preview {...data.preview} />}
          {estimate.data !== undefined && isOfThisPlan && <p>{estimateInWords(estimate.data)}</p>}
        </div>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          variant="default"
          disabled={blocked}
          loading={estimate.isPending}
          onClick={() => estimate.mutate(input)}
        >
          Estimate
        </Button>
        <Button type="submit" disabled={blocked} loading={start.isPending}>
          Start sweep
        </Button>
      </div>
      {checked.error !== null && (
        <Failed what="The plan can't be checked" error={checked.error} onRetry={() => void checked.refetch()} />
      )}
      {estimate.isPending && <JobProgress kinds={['preflight']} />}
      {estimate.error !== null && <Failed what="The estimate did not finish" error={estimate.error} />}
      {start.error !== null && <Failed what="The sweep was not started" error={start.error} />}
    </SubmitForm>
  );
}

/** The plan has the seeds. */
function choicesOf(fields: readonly ConfigField[], names: readonly string[]) {
  const open = fields.filter(({ name }) => !names.includes(name) && name !== 'seed');
  return [...Map.groupBy(open, ({ group }) => group)].map(([group, list]) => ({
    group,
    items: list.map(({ name }) => String(name)),
  }));
}

interface HalvingProps {
  readonly entry: PlanEntry;
  readonly onChange: (part: Partial<PlanEntry>) => void;
}

function Halving({ entry, onChange }: HalvingProps) {
  return (
    <div className={classes.row}>
      <Switch
        label="Stop the losers early (successive halving)"
        checked={entry.halving}
        onChange={(event) => onChange({ halving: event.currentTarget.checked })}
      />
      {entry.halving && (
        <>
          <NumberField
            label="First comparison after steps"
            value={entry.minSteps}
            onChange={(steps) => steps !== null && onChange({ minSteps: steps })}
            min={1}
            width={180}
          />
          <NumberField
            label="One continues out of"
            value={entry.factor}
            onChange={(factor) => factor !== null && onChange({ factor })}
            min={2}
            max={10}
            width={160}
          />
        </>
      )}
    </div>
  );
}

interface PreviewProps {
  readonly settings: readonly string[];
  readonly runs: number;
  readonly steps: number;
  readonly rungs: readonly number[] | null;
}

function Preview({ settings, runs, steps, rungs }: PreviewProps) {
  return (
    <>
      <span className="num">
        {counted(settings.length, 'setting')}, {counted(runs, 'run')}, {counted(steps, 'step')}
        {rungs !== null && `; compared at ${stepList(rungs.slice(0, -1))}`}
      </span>
      {settings.length > 1 && (
        <details>
          <summary>Settings</summary>
          <ol>
            {settings.slice(0, SHOWN_SETTINGS).map((setting) => (
              <li key={setting}>{setting}</li>
            ))}
          </ol>
          {settings.length > SHOWN_SETTINGS && <p>and {settings.length - SHOWN_SETTINGS} more</p>}
        </details>
      )}
    </>
  );
}
