/** The form of a new or existing stage: name, dataset, steps, promotion rule and run settings. */
import { Button, Select, Switch, TextInput } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Curriculum, Promotion, StageView } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { BoundedNumber } from '../components/BoundedNumber.tsx';
import { ConfigForm, useConfigFaults } from '../components/config-form/ConfigForm.tsx';
import { entered, ontoStored } from '../components/config-form/entered.ts';
import { FormDrawer, type FormGuard, useChanged } from '../components/config-form/FormDrawer.tsx';
import type { Values } from '../components/config-form/sections.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { isolated } from '../components/isolated.ts';
import { LongSelect } from '../components/LongSelect.tsx';
import { NumberEntry } from '../components/NumberEntry.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import classes from './StageForm.module.css';
import { leftInWords, loweredInWords, recordWord } from './words.ts';

const none: Values = {};

/** Set by the stage itself. */
const OF_THE_STAGE = {
  dataset: 'Set above: Dataset.',
  max_steps: 'Set above: Steps.',
  num_train_epochs: 'A stage has steps: set them above.',
  task: "The dataset's.",
};

export interface StageFormProps {
  /** Null for a new stage. */
  readonly stage: StageView | null;
  /** Steps and rule of a new stage; the rule also where a stage has none and gets one. */
  readonly first: Curriculum['newStage'];
  /** The checkpoint that a new stage starts from, if it was added from one. */
  readonly from?: number | null;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onSaved: (stageId: number) => void;
}

export function StageForm({ stage, first, from = null, opened, onClose, onSaved }: StageFormProps) {
  return (
    <FormDrawer opened={opened} onClose={onClose} title={stage === null ? 'New stage' : `Adjust ${stage.name}`}>
      {(guard) =>
        stage === null ? (
          <NewStage key={from} first={first} from={from} {...guard} onSaved={onSaved} />
        ) : (
          <Form key={stage.id} first={first} stage={stage} {...guard} onSaved={onSaved} />
        )
      }
    </FormDrawer>
  );
}

type FormProps = FormGuard & Pick<StageFormProps, 'first' | 'onSaved'>;

function NewStage({ from, ...rest }: FormProps & { readonly from: number | null }) {
  const { data, error } = useQuery(api.models.list.queryOptions({ enabled: from !== null }));
  if (from === null) return <Form stage={null} {...rest} />;
  if (error !== null) return <Failed what="The checkpoint can't be read" error={error} />;
  if (data === undefined) return <Loading what="the checkpoint" />;
  const checkpoint = data.find(({ checkpointId }) => checkpointId === from);
  if (checkpoint === undefined) return <Failed error={new Error(`Checkpoint ${from} no longer exists.`)} />;
  if (checkpoint.problem !== null)
    return <Failed what="The stage can't start from this checkpoint" error={new Error(checkpoint.problem)} />;
  return (
    <>
      <p className="soft">
        Starts from <strong>{checkpoint.name}</strong>.
      </p>
      <Form stage={null} initial={{ from_checkpoint: checkpoint.folder }} {...rest} />
    </>
  );
}

interface FormOfStageProps extends FormProps {
  readonly stage: StageView | null;
  /** Initial settings of a new stage. */
  readonly initial?: Values;
}

function Form({ stage, first, initial = none, onClose, onChanged, onSaved }: FormOfStageProps) {
  const { data: all, error: unlisted, refetch } = useQuery(api.datasets.list.queryOptions());
  const datasets = all ?? [];
  const [opened] = useState(stage);
  const [name, setName] = useState(stage?.name ?? '');
  const [datasetId, setDatasetId] = useState<number | null>(stage?.datasetId ?? null);
  const [words, setWords] = useState<number | null>(stage?.words ?? null);
  const [steps, setSteps] = useState<number | null>(stage?.steps ?? first.steps);
  const [rule, setRule] = useState<Promotion | null>(stage === null ? first.promotion : stage.promotion);
  const [own, setOwn] = useState<Values>(stage?.config ?? initial);
  useChanged([name, datasetId, words, steps, rule, own], onChanged);
  const edited = { datasetId, words, ...(steps !== null && { steps }) };
  const { data: settings, error: unread } = useQuery(
    api.stages.config.queryOptions({
      input: { stageId: stage?.id ?? null, ...edited, config: startOf(own) },
      placeholderData: keepPreviousData,
    }),
  );
  const faults = useConfigFaults({ ...settings?.defaults, ...own, max_steps: steps ?? '' });
  const save = useMutation({
    mutationFn: async () => {
      const edit = { ...edited, promotion: rule, config: { ...own } };
      const named = name.trim() === '' ? edit : { ...edit, name: name.trim() };
      if (stage === null || opened === null) return (await client.stages.add(named)).stageId;
      const config = ontoStored(own, opened.config, stage.config);
      await client.stages.change({ ...entered(named, opened), config: { ...config }, stageId: stage.id });
      return stage.id;
    },
    onSuccess: (stageId) => {
      onChanged(false);
      onSaved(stageId);
    },
  });
  const chosen = datasets.find(({ id }) => id === datasetId);
  return (
    <SubmitForm className={classes.form} onSubmit={() => save.mutate()}>
      <div className={classes.grid}>
        <TextInput
          label="Name"
          placeholder={
            chosen !== undefined && chosen.words === null ? chosen.name : `${chosen?.words ?? words ?? '…'} words`
          }
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <LongSelect
          label="Dataset"
          placeholder="none yet"
          clearable
          nothingFoundMessage="No matching datasets"
          data={datasets.map((row) => ({
            value: String(row.id),
            label: `${isolated(row.name)} (${row.words === null ? `${isolated(row.task)}, ` : ''}${counted(row.trainN, recordWord(row.words))})`,
          }))}
          value={datasetId === null ? null : String(datasetId)}
          onChange={(value) => setDatasetId(value === null ? null : Number(value))}
        />
        <NumberEntry
          label="Words"
          min={1}
          disabled={datasetId !== null}
          value={chosen === undefined ? words : chosen.words}
          onChange={setWords}
        />
        <NumberEntry
          label="Steps"
          min={1}
          value={steps}
          onChange={setSteps}
          error={faults.find(({ field }) => field === 'max_steps')?.message}
        />
      </div>
      {unlisted !== null && (
        <Failed what="The datasets can't be listed" error={unlisted} onRetry={() => void refetch()} />
      )}
      <Rule rule={rule} first={first.promotion} onChange={setRule} />
      <h3 className={classes.head}>Run settings</h3>
      {settings?.left && <p className="soft">{leftInWords(settings.left)}</p>}
      {settings?.lowered && <p className="soft">{loweredInWords(settings.lowered)}</p>}
      {unread !== null && <Failed what="The default settings can't be read" error={unread} />}
      {unread === null && settings === undefined && <Loading what="the default settings" />}
      {settings !== undefined && (
        <ConfigForm defaults={settings.defaults} own={own} onChange={setOwn} faults={faults} elsewhere={OF_THE_STAGE} />
      )}
      <div className={classes.foot}>
        {save.error !== null && <Failed what="The stage was not saved" error={save.error} />}
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={save.isPending} disabled={faults.length > 0 || steps === null}>
          {stage === null ? 'Add stage' : 'Save'}
        </Button>
      </div>
    </SubmitForm>
  );
}

/** What a stage starts from, by its own settings: its defaults depend on that. */
function startOf({ model, from_checkpoint }: Values): Values {
  return { ...(model !== undefined && { model }), ...(from_checkpoint !== undefined && { from_checkpoint }) };
}

/** A whole number of at least 1, or nothing. */
function Rule({
  rule,
  first,
  onChange,
}: {
  readonly rule: Promotion | null;
  /** Of a stage that had none. */
  readonly first: Promotion;
  readonly onChange: (r: Promotion | null) => void;
}) {
  const set = (change: Partial<Promotion>): void => onChange({ ...(rule ?? first), ...change });
  return (
    <fieldset className={classes.rule}>
      <legend>Promotion rule</legend>
      <Switch
        label="Require a held-out score"
        checked={rule !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? first : null)}
      />
      {rule !== null && (
        <>
          <BoundedNumber
            label="At least"
            min={-1e6}
            max={1e6}
            step={0.05}
            w={90}
            value={rule.at_least}
            onChange={(at_least) => set({ at_least })}
          />
          <BoundedNumber
            label="Evaluations in a row"
            min={1}
            max={20}
            w={130}
            value={rule.evaluations}
            onChange={(evaluations) => set({ evaluations })}
          />
          <Select
            label="Next stage starts from"
            w={170}
            allowDeselect={false}
            data={[
              { value: 'last', label: 'last checkpoint' },
              { value: 'best', label: 'best checkpoint' },
            ]}
            value={rule.hand_on}
            onChange={(value) => set({ hand_on: value === 'best' ? 'best' : 'last' })}
          />
          <Switch
            label="Stop as soon as it is met"
            checked={rule.end_early}
            onChange={(event) => set({ end_early: event.currentTarget.checked })}
          />
        </>
      )}
    </fieldset>
  );
}
