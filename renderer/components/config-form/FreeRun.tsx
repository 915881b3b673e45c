/** A free run, outside the curriculum: any settings, any dataset. */
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { DatasetSummary } from '../../../main/api/contract/index.ts';
import { api, client } from '../../api/client.ts';
import { currentPath, navigateFrom } from '../../frame/hash-location.ts';
import { Failed, Loading } from '../Feedback.tsx';
import { Link } from '../Link.tsx';
import preflight from '../preflight/Preflight.module.css';
import { isCrowded, isForNow, needsConsent, Preflight } from '../preflight/Preflight.tsx';
import { SubmitForm } from '../SubmitForm.tsx';
import classes from './ConfigForm.module.css';
import { ConfigForm, useConfigFaults } from './ConfigForm.tsx';
import { FormDrawer, type FormGuard, useChanged } from './FormDrawer.tsx';
import { blockedBy, type Followed, newestDataset } from './free-run.ts';
import type { Values } from './sections.ts';

/** The preset that its settings start from. */
const PRESET = 'interleave-tiny';

const BY_EPOCHS = { max_steps: 'Computed from num_train_epochs, which is set.' };

export interface FreeRunProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** A run to base it on, instead of a preset. */
  readonly follows?: Followed;
  /** A task to base it on, instead of a preset. */
  readonly task?: TaskStart;
  /** A model to train, in place of the preset's. */
  readonly model?: string;
}

/** A task with the settings that its folder suggests. */
export interface TaskStart {
  readonly name: string;
  readonly fields: Values;
}

export function FreeRun({ opened, onClose, follows, task, model }: FreeRunProps) {
  const { data: presets, error, refetch } = useQuery(api.config.presets.queryOptions());
  const { data: datasets, error: unlisted, refetch: list } = useQuery(api.datasets.list.queryOptions());
  const problem = error ?? unlisted;
  const retry = (): void => void Promise.all([refetch(), list()]);
  const preset = presets?.find(({ name }) => name === PRESET)?.fields ?? {};
  return (
    <FormDrawer opened={opened} onClose={onClose} title="New run">
      {(guard) => (
        <>
          {problem !== null && <Failed what="The settings can't be read" error={problem} onRetry={retry} />}
          {(presets === undefined || datasets === undefined) && problem === null && <Loading what="the settings" />}
          {presets !== undefined && datasets !== undefined && (
            <Form
              defaults={follows?.base ?? startOf(task, preset, datasets)}
              follows={follows}
              task={task?.name}
              model={model}
              onDone={onClose}
              {...guard}
            />
          )}
        </>
      )}
    </FormDrawer>
  );
}

/** What the task suggests, otherwise the newest dataset for it. */
function startOf(task: TaskStart | undefined, preset: Values, datasets: readonly DatasetSummary[]): Values {
  if (task === undefined) return { ...preset, dataset: newestDataset(datasets, preset.task) ?? '' };
  return { ...task.fields, dataset: task.fields.dataset ?? newestDataset(datasets, task.name) ?? '' };
}

function baseOf(follows: Followed | undefined, task: string | undefined) {
  if (follows !== undefined) return { like: follows.runId };
  return task === undefined ? { preset: PRESET } : { task };
}

interface FormProps extends FormGuard {
  readonly defaults: Values;
  readonly follows: Followed | undefined;
  readonly task: string | undefined;
  readonly model: string | undefined;
  /** Closes without asking: nothing is lost. */
  readonly onDone: () => void;
}

function Form({ defaults, follows, task, model, onClose, onDone: leave, onChanged }: FormProps) {
  const [own, setOwn] = useState<Values>(follows?.change ?? (model === undefined ? {} : { model }));
  const [name, setName] = useState(follows?.name ?? '');
  useChanged([name, own], onChanged);
  const [, navigate] = useLocation();
  const values = { ...defaults, ...own };
  const faults = useConfigFaults(values);
  const [checking, setChecking] = useState(false);
  const base = baseOf(follows, task);
  const asked = {
    ...base,
    ...(name.trim() !== '' && { name: name.trim() }),
    config: { dataset: values.dataset, ...own },
  };
  /** With what the user agreed to in the pre-flight check. */
  const agreedTo = (agreed: boolean) =>
    agreed ? { ...asked, config: { ...asked.config, allow_unwritable_words: true } } : asked;
  const start = useMutation({
    mutationFn: (agreed: boolean) => client.runs.start(agreedTo(agreed)),
    onMutate: currentPath,
    onSuccess: ({ runId }, _, from) => {
      onChanged(false);
      navigateFrom(from, `/runs/${runId}`);
    },
  });
  const queue = useMutation({
    mutationFn: (agreed: boolean) => client.queue.addRun(agreedTo(agreed)),
    onSuccess: () => {
      onChanged(false);
      leave();
      navigate('/experiments');
    },
  });
  const blocked = blockedBy(values, faults);
  if (checking) {
    const adjust = (): void => setChecking(false);
    return (
      <Preflight
        key={String(values.warm_up_steps)}
        title="Pre-flight check"
        run={(signal) => client.runs.preflight(asked, { signal })}
        onClose={adjust}
        onWarmUp={(steps) => setOwn({ ...own, warm_up_steps: steps })}
      >
        {(blocked, report) => (
          <>
            {start.error !== null && <Failed what="The run was not started" error={start.error} />}
            {queue.error !== null && <Failed what="The run was not queued" error={queue.error} />}
            <div className={preflight.actions}>
              <Button
                variant={isForNow(report) ? 'filled' : 'default'}
                onClick={() => start.mutate(needsConsent(report))}
                disabled={blocked}
                loading={start.isPending}
                data-autofocus={!blocked || undefined}
              >
                Start
              </Button>
              <Button
                variant={isCrowded(report) ? 'filled' : 'default'}
                onClick={() => queue.mutate(needsConsent(report))}
                disabled={blocked}
                loading={queue.isPending}
              >
                Add to queue
              </Button>
              <Button variant="default" onClick={adjust}>
                Adjust
              </Button>
            </div>
          </>
        )}
      </Preflight>
    );
  }
  return (
    <SubmitForm onSubmit={() => setChecking(true)}>
      <p className="soft">
        {follows === undefined
          ? 'Held-out records come from the test file next to the dataset. To continue from stage to stage, use the curriculum.'
          : `Same settings as run ${follows.runId}, except for those marked as changed.`}
      </p>
      <TextInput
        label="Name"
        description="Runs named experiment/seed_42, experiment/seed_43 … form one group"
        placeholder="generated from number, dataset and method"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
        mb="md"
      />
      <ConfigForm
        defaults={defaults}
        own={own}
        onChange={setOwn}
        faults={faults}
        {...(values.num_train_epochs != null && { elsewhere: BY_EPOCHS })}
      />
      {queue.error !== null && <Failed what="The run was not queued" error={queue.error} />}
      <div className={classes.foot}>
        <span className={classes.blocked} role="status">
          {blocked}
          {values.dataset === '' && (
            <>
              {' '}
              <Link href="/texts/make">Make a dataset</Link>
            </>
          )}
        </span>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          variant="default"
          disabled={blocked !== null}
          loading={queue.isPending}
          onClick={() => queue.mutate(false)}
        >
          Add to queue without a check
        </Button>
        <Button type="submit" disabled={blocked !== null}>
          Start run
        </Button>
      </div>
    </SubmitForm>
  );
}
