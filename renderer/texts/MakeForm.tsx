/** The form of a dataset recipe, with the button that makes the datasets. */
import { Button, Loader, Switch, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { MadeDatasets, StageSupply } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { CancelJob } from '../components/CancelJob.tsx';
import { Failed } from '../components/Feedback.tsx';
import { counted, number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { leakageInWords } from '../components/leakage.ts';
import { DATASET_NAME_RULE, datasetNameFits } from '../components/name-rules.ts';
import { Panel } from '../components/Screen.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import { readNumber } from '../components/typed-number.ts';
import classes from './Make.module.css';
import { ReplaceDialog } from './ReplaceDialog.tsx';
import { datasetName, datasetNames, type Recipe } from './recipe.ts';
import { StageChoice } from './StageChoice.tsx';
import { TemplateChoice } from './TemplateChoice.tsx';

export interface MakeFormProps {
  readonly recipe: Recipe;
  readonly supply: readonly StageSupply[];
  readonly onChange: (change: Partial<Recipe>) => void;
}

export function MakeForm({ recipe, supply, onChange }: MakeFormProps) {
  const { stages, train, test, seed, template, mixed } = recipe;
  // The field shows it as typed: trimmed on each key, a name could have no space.
  const name = recipe.name.trim();
  const [asking, setAsking] = useState(false);
  const [faults, setFaults] = useState<readonly string[]>([]);
  const fault = (label: string, isFault: boolean): void =>
    setFaults((before) => [...before.filter((other) => other !== label), ...(isFault ? [label] : [])]);
  const status = useQuery(api.app.status.queryOptions());
  const job = status.data?.jobs.find(({ kind, state }) => kind === 'datasets' && state === 'running');
  const taken = useQuery(
    api.datasets.taken.queryOptions({ input: { stages: [...stages], name, mixed }, enabled: stages.length > 0 }),
  );
  const make = useMutation(api.datasets.make.mutationOptions());
  const short = supply.filter(({ words, shortage }) => stages.includes(words) && shortage !== null);
  // A mixture needs all of its lengths, and two at least.
  const ready = !mixed ? stages.length - short.length : short.length === 0 && stages.length > 1 ? 1 : 0;
  const names = datasetNames({ ...recipe, name });
  const replaced = (taken.data ?? []).filter((known) => names.includes(known.name));
  const begin = (replace: boolean): void => {
    setAsking(false);
    make.mutate({ stages: [...stages], train, test, seed, template, name, mixed, replace });
  };
  return (
    <Panel title="Recipe" className={classes.form ?? ''}>
      <SubmitForm onSubmit={() => (replaced.length > 0 ? setAsking(true) : begin(false))}>
        <StageChoice stages={stages} supply={supply} onChange={(chosen) => onChange({ stages: chosen })} />
        <div className={classes.row}>
          <Count
            label="Training pairs"
            value={train}
            max={100_000}
            onChange={(value) => onChange({ train: value })}
            onFault={fault}
          />
          <Count
            label="Test pairs"
            value={test}
            max={100_000}
            onChange={(value) => onChange({ test: value })}
            onFault={fault}
          />
          <Count
            label="Seed"
            value={seed}
            min={0}
            max={2 ** 32 - 1}
            onChange={(value) => onChange({ seed: value })}
            onFault={fault}
          />
        </div>
        <TemplateChoice chosen={template} onChange={(next) => onChange({ template: next })} />
        <TextInput
          label="Name"
          description={`Prefix of the word count: ${datasetName({ name: name || 'river' }, 10)}. If empty: 10words.`}
          value={recipe.name}
          maxLength={60}
          error={datasetNameFits(name) ? undefined : DATASET_NAME_RULE}
          onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
        />
        <Switch
          label={mixed ? `One dataset of ${mixtureText(stages)}, mixed` : 'One dataset, all word counts mixed'}
          description="Shortest first, for prompts whose difficulty follows the reward (adarft_target_reward)"
          checked={mixed}
          onChange={({ currentTarget }) => onChange({ mixed: currentTarget.checked })}
        />
        {mixed && ready === 0 && (
          <p className={classes.short}>
            {stages.length < 2
              ? 'Choose at least two word counts to mix.'
              : 'A mixture needs enough texts for all of its word counts.'}
          </p>
        )}
        {short.map(({ words, shortage }) => (
          <p key={words} className={classes.short}>
            {shortage}.
          </p>
        ))}
        {replaced.length > 0 && (
          <p className={classes.note}>
            {replaced.map((known) => known.name).join(', ')}
            {replaced.length === 1 ? ' exists' : ' exist'} and will be replaced.
          </p>
        )}
        <Button
          type="submit"
          fullWidth
          disabled={ready === 0 || faults.length > 0 || !datasetNameFits(name) || job !== undefined}
          loading={make.isPending && job === undefined}
        >
          {ready === 0
            ? mixed
              ? 'No mixture can be made'
              : 'No stage can be made'
            : `Make ${counted(ready, 'dataset')}`}
        </Button>
      </SubmitForm>
      {job !== undefined && (
        <p className={classes.working} role="status">
          <Loader size="xs" color="gray" /> {job.title}
          {job.progress !== null && `: ${job.progress.done} of ${job.progress.total}`}
          <CancelJob id={job.id} />
        </p>
      )}
      {make.error !== null && <Failed what="The datasets could not be made" error={make.error} />}
      {make.data !== undefined && job === undefined && <Made made={make.data} />}
      {asking && <ReplaceDialog taken={replaced} onClose={() => setAsking(false)} onReplace={() => begin(true)} />}
    </Panel>
  );
}

/** "10–50 words" */
function mixtureText(stages: readonly number[]): string {
  return stages.length < 2 ? 'several word counts' : `${Math.min(...stages)}–${Math.max(...stages)} words`;
}

interface CountProps {
  readonly label: string;
  readonly value: number;
  readonly min?: number;
  readonly max: number;
  readonly onChange: (value: number) => void;
  readonly onFault: (label: string, isFault: boolean) => void;
}

/** What can't be used stays as it was typed, with the bounds beside it; until then nothing can be made. */
function Count({ label, value, min = 1, max, onChange, onFault }: CountProps) {
  const [typed, setTyped] = useState(String(value));
  const read = (text: string): number | null => {
    const entered = readNumber(text, true);
    return entered !== null && Number.isInteger(entered) && entered >= min && entered <= max ? entered : null;
  };
  const entered = read(typed);
  // One that was changed elsewhere: by a preset, or in another tab.
  if (entered !== null && entered !== value) setTyped(String(value));
  return (
    <TextInput
      label={label}
      inputMode="numeric"
      autoComplete="off"
      value={typed}
      error={entered === null ? `${number(min)} to ${number(max)}` : undefined}
      onChange={({ currentTarget: { value: text } }) => {
        const next = read(text);
        setTyped(text);
        onFault(label, next === null);
        if (next !== null) onChange(next);
      }}
    />
  );
}

function Made({ made: { made, shortages } }: { readonly made: MadeDatasets }) {
  return (
    <div className={classes.made} role="status">
      <strong>Created</strong>
      <ul>
        {made.map(({ id, name, train, test, leakage, quoted, unwritable }) => (
          <li key={id} className="num">
            <Link href={`/texts/dataset/${id}`}>{name}</Link> {number(train)} + {number(test)} pairs
            {leakage.clean
              ? ', held out'
              : `; ${leakageInWords({ titles: leakage.shared_titles.length, pairs: leakage.overlaps.length }, test)}`}
            {quoted !== null && `; ${quoted}`}
            {unwritable !== null && `; ${unwritable}`}
          </li>
        ))}
      </ul>
      {shortages.length > 0 && (
        <p className="soft">Not made, too few texts: {shortages.map(({ words }) => `${words} words`).join(', ')}.</p>
      )}
      <p>
        Next: <Link href="/curriculum">plan the stages</Link>
      </p>
    </div>
  );
}
