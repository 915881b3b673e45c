/** What to compare: a baseline, other models, and the prompts they are all asked. */
import { Button, MultiSelect, NumberInput, Select } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { PromptSource } from '../../main/services/model-comparisons.ts';
import type { ModelEntry } from '../../main/services/model-list.ts';
import { api, client } from '../api/client.ts';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { modelOptions } from '../components/model-options.ts';
import { Panel } from '../components/Screen.tsx';
import classes from './Compare.module.css';
import { type Choice, choiceOf, firstChoice, obstacle } from './choice.ts';

export function NewComparison() {
  const models = useQuery(api.models.list.queryOptions());
  const sources = useQuery(api.comparisons.sources.queryOptions());
  const error = models.error ?? sources.error;
  if (error !== null) return <Failed what="What can be compared is not known" error={error} />;
  if (models.data === undefined || sources.data === undefined) return <Loading what="models and datasets" />;
  if (sources.data.length === 0)
    return (
      <Panel>
        <Empty title="No dataset yet to take prompts from">
          <p>
            <Link href="/texts">Generate a dataset</Link>: it keeps records back that training never sees. Models are
            compared on those.
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
  const [, navigate] = useLocation();
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
    onSuccess: ({ id }) => navigate(`/compare/${id}`),
  });
  const why = obstacle(choice);
  const options = modelOptions(models);
  const available = sources.reduce(
    (sum, { datasetId, heldOut }) => sum + (choice.datasetIds.includes(datasetId) ? Math.min(heldOut, choice.n) : 0),
    0,
  );
  return (
    <Panel title="New comparison">
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (why === null) start.mutate(choice);
        }}
      >
        <Select
          label="Baseline"
          description="What the others are measured against"
          placeholder="Choose a model"
          data={options}
          value={choice.baseline}
          onChange={(baseline) => change({ baseline })}
          searchable
          limit={100}
          nothingFoundMessage="No model of that name"
        />
        <MultiSelect
          label="Against"
          description="Checkpoints or models; any number"
          placeholder={choice.models.length === 0 ? 'Choose models or checkpoints' : ''}
          data={options}
          value={[...choice.models]}
          onChange={(others) => change({ models: others })}
          searchable
          clearable
          limit={100}
          hidePickedOptions
          nothingFoundMessage="No model of that name"
        />
        <MultiSelect
          label="Held-out prompts of"
          description={`Several lengths show forgetting · ${available} prompts in all`}
          placeholder={choice.datasetIds.length === 0 ? 'Choose a dataset' : ''}
          data={sources.map(({ datasetId, name, heldOut, problem }) => ({
            value: String(datasetId),
            label: `${name} · ${problem === null ? `${heldOut} held out` : 'none to ask'}`,
            disabled: problem !== null,
          }))}
          value={choice.datasetIds.map(String)}
          onChange={(ids) => change({ datasetIds: ids.map(Number) })}
          searchable
          hidePickedOptions
          // One dataset stays on one line.
          styles={{ inputField: { minWidth: 30 } }}
        />
        <NumberInput
          label="How many"
          description="Of each"
          min={1}
          max={2000}
          allowDecimal={false}
          value={choice.n}
          onChange={(n) => change({ n: Number(n) || 1 })}
        />
        <NumberInput
          label="Seed"
          description="Which ones"
          min={0}
          allowDecimal={false}
          value={choice.seed}
          onChange={(seed) => change({ seed: Number(seed) || 0 })}
        />
        <Button className={classes.go ?? ''} type="submit" disabled={why !== null} loading={start.isPending}>
          Compare
        </Button>
      </form>
      {why !== null && <p className="soft">{why}</p>}
      <p className="soft">
        Alignment on prompts of interleaving. Replies are compared by their reward, pass@k and diversity{' '}
        <Link href="/replies">on their own screen</Link>.
      </p>
      {start.error !== null && <Failed what="The comparison could not be started" error={start.error} />}
    </Panel>
  );
}
