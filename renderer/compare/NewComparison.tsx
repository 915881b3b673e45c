/** The form for a new comparison: a baseline, other models, and the prompts for all of them. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useSearch } from 'wouter';
import type { ModelEntry, PromptSource } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { BoundedNumber } from '../components/BoundedNumber.tsx';
import { DistinctName } from '../components/DistinctName.tsx';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { counted, number } from '../components/format.ts';
import { isolated } from '../components/isolated.ts';
import { Link } from '../components/Link.tsx';
import { LongMultiSelect, LongSelect } from '../components/LongSelect.tsx';
import { modelOptions } from '../components/model-options.ts';
import { Panel } from '../components/Screen.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import { tellApart } from '../components/tell-apart.ts';
import { currentPath, navigateFrom } from '../frame/hash-location.ts';
import classes from './Compare.module.css';
import { type Choice, choiceOf, choiceProblem, firstChoice, shortcuts } from './choice.ts';
import { Leaks } from './Leaks.tsx';

export function NewComparison() {
  const models = useQuery(api.models.list.queryOptions());
  const sources = useQuery(api.comparisons.sources.queryOptions());
  const error = models.error ?? sources.error;
  // After a failed update the form stays, with what was chosen in it.
  if (models.data === undefined || sources.data === undefined) {
    if (error === null) return <Loading what="models and datasets" />;
    const retry = (): void => void Promise.all([models.refetch(), sources.refetch()]);
    return <Failed what="Models and datasets can't be listed" error={error} onRetry={retry} />;
  }
  if (sources.data.length === 0)
    return (
      <Panel>
        <Empty title="No datasets yet">
          <p>
            <Link href="/texts">Make a dataset</Link> first. Models are compared on its held-out records, which training
            doesn't use.
          </p>
        </Empty>
      </Panel>
    );
  return <Form models={models.data} sources={sources.data} />;
}

function Form({
  models,
  sources,
}: {
  readonly models: readonly ModelEntry[];
  readonly sources: readonly PromptSource[];
}) {
  const asked = useSearch();
  const [changed, setChanged] = useState<Partial<Choice>>({});
  const choice = { ...choiceOf(asked, firstChoice(models, sources)), ...changed };
  const change = (part: Partial<Choice>): void => setChanged((before) => ({ ...before, ...part }));
  const start = useMutation({
    mutationFn: ({ baseline, models: others, datasetIds, n, seed }: Choice) =>
      client.comparisons.start({
        baseline: baseline ?? '',
        models: [...others],
        prompts: { datasetIds: [...datasetIds], n, seed },
      }),
    onMutate: currentPath,
    onSuccess: ({ id }, _, from) => navigateFrom(from, `/compare/${id}`),
  });
  const problem = choiceProblem(choice);
  const options = useMemo(() => modelOptions(models), [models]);
  const datasets = useMemo(() => sources.map(sourceOption), [sources]);
  const offered = useMemo(() => shortcuts(models), [models]);
  const parts = tellApart(offered.map(({ label }) => label));
  const available = sources.reduce(
    (sum, { datasetId, heldOut }) => sum + (choice.datasetIds.includes(datasetId) ? Math.min(heldOut, choice.n) : 0),
    0,
  );
  return (
    <Panel title="New comparison">
      <SubmitForm
        className={classes.form}
        onSubmit={() => {
          if (problem === null) start.mutate(choice);
        }}
      >
        <LongSelect
          label="Baseline"
          description="Reference for the others"
          placeholder="Choose a model"
          data={options}
          value={choice.baseline}
          onChange={(baseline) => change({ baseline })}
          nothingFoundMessage="No matching models"
        />
        <LongMultiSelect
          label="Against"
          description="Checkpoints or models; any number"
          placeholder={choice.models.length === 0 ? 'Choose models or checkpoints' : ''}
          data={options}
          value={[...choice.models]}
          onChange={(others) => change({ models: others })}
          clearable
          hidePickedOptions
          styles={besidePills(choice.models.length)}
          nothingFoundMessage="No matching models"
        />
        <LongMultiSelect
          label="Held-out prompts from"
          description={`Several show forgetting · ${counted(available, 'prompt')}`}
          placeholder={choice.datasetIds.length === 0 ? 'Choose a dataset' : ''}
          data={datasets}
          value={choice.datasetIds.map(String)}
          onChange={(ids) => change({ datasetIds: ids.map(Number) })}
          hidePickedOptions
          styles={besidePills(choice.datasetIds.length)}
          nothingFoundMessage="No matching datasets"
        />
        <BoundedNumber
          label="Prompts"
          description="Per dataset"
          min={1}
          max={2000}
          value={choice.n}
          onChange={(n) => change({ n })}
        />
        <BoundedNumber
          label="Seed"
          description="For sampling"
          min={0}
          max={2 ** 32 - 1}
          value={choice.seed}
          onChange={(seed) => change({ seed })}
        />
        <Button className={classes.go ?? ''} type="submit" disabled={problem !== null} loading={start.isPending}>
          Compare
        </Button>
      </SubmitForm>
      <div className={classes.shortcuts}>
        {offered.map(({ label, models: wanted }) => (
          <Button
            key={label}
            size="compact-xs"
            variant="subtle"
            classNames={{ label: classes.shortcut ?? '' }}
            onClick={() => change({ models: wanted.filter((ref) => ref !== choice.baseline) })}
          >
            <DistinctName parts={parts(label)} />
          </Button>
        ))}
      </div>
      {problem !== null && <p className="soft">{problem}</p>}
      {sources
        .filter(({ datasetId }) => choice.datasetIds.includes(datasetId))
        .map(({ datasetId, name, task, heldOut, leakage }) => (
          <Leaks key={datasetId} {...{ name, task, heldOut, leakage }} />
        ))}
      <p className="soft">
        Compares alignment on interleaving prompts, and the reward on those of a <Link href="/tasks">task</Link>.
        Replies are compared by reward, pass@k and diversity on the <Link href="/replies">Replies</Link> screen.
      </p>
      {start.error !== null && <Failed what="The comparison could not be started" error={start.error} />}
    </Panel>
  );
}

function sourceOption({ datasetId, name, heldOut, problem }: PromptSource) {
  return {
    value: String(datasetId),
    label: `${isolated(name)} · ${problem === null ? `${number(heldOut)} held out` : 'no prompts'}`,
    disabled: problem !== null,
  };
}

/** Leaves the search field what the chosen ones leave of their row: at its usual width it would wrap to an empty row. */
function besidePills(chosen: number) {
  return { inputField: { minWidth: chosen === 0 ? 30 : 4 } };
}
