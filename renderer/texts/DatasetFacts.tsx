/** A dataset's details: how it was made, whether its test side is held out, what depends on it, where it is stored. */
import { useQuery } from '@tanstack/react-query';
import type { DatasetDetail } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { bytes, number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { leakageInWords } from '../components/leakage.ts';
import { Panel } from '../components/Screen.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { When } from '../components/When.tsx';
import { Clean, LeakageNote, Leaky } from './LeakageNote.tsx';
import classes from './Texts.module.css';

export function DatasetFacts({ dataset }: { readonly dataset: DatasetDetail }) {
  const { words, trainN, testN, seed, template, madeAt, files, dependents } = dataset;
  return (
    <Panel title="About" className={classes.lengths ?? ''}>
      <dl className={`${classes.factList} num`}>
        <dt>Words</dt>
        <dd>{words === null ? '–' : `${number(words)} per fragment`}</dd>
        <dt>Records</dt>
        <dd>
          {number(trainN)} training, {number(testN)} test
        </dd>
        <dt>Seed</dt>
        <dd>{template === null ? '–' : seed}</dd>
        <dt>Template</dt>
        <dd>{template ?? '–'}</dd>
        <dt>Created</dt>
        <dd>
          <When at={madeAt} />
        </dd>
        <dt>Size</dt>
        <dd>{dataset.bytes === null ? 'file missing' : bytes(dataset.bytes)}</dd>
        <dt>File</dt>
        <dd className={classes.path}>{files.train}</dd>
      </dl>
      <h3>Held-out check</h3>
      <HeldOut dataset={dataset} />
      <h3>Used by</h3>
      <Dependents dependents={dependents} />
    </Panel>
  );
}

function HeldOut({ dataset }: { readonly dataset: DatasetDetail }) {
  const { data, isPending, error } = useQuery(api.datasets.leakage.queryOptions({ input: { id: dataset.id } }));
  if (isPending) return <Loading what="the held-out check" />;
  if (error !== null) return <Failed what="The held-out check failed" error={error} />;
  if (data !== null) return <LeakageNote leakage={data} task={dataset.task} />;
  if (dataset.testN === 0) return <p className="soft">No test records to compare</p>;
  // Records of your own tasks were compared when they were imported; what they share was counted, not kept.
  const leaks = leakageInWords(dataset.leakage, dataset.testN, dataset.task);
  if (leaks !== null) return <Leaky task={dataset.task}>{leaks}.</Leaky>;
  return dataset.leakage === null ? <p className="soft">Not checked</p> : <Clean task={dataset.task} />;
}

function Dependents({ dependents: { stages, runs, waiting, paused } }: Pick<DatasetDetail, 'dependents'>) {
  if (stages.length + runs.length + waiting.length + paused.length === 0)
    return <p className="soft">No stages or runs yet</p>;
  return (
    <ul className={classes.names}>
      {stages.map(({ id, name, state }) => (
        <li key={`stage-${id}`}>
          <Link href="/curriculum">{name}</Link> <StateBadge state={state} />
        </li>
      ))}
      {runs.map(({ id, name, state }) => (
        <li key={`run-${id}`}>
          <Link href={`/runs/${id}`}>{name}</Link> <StateBadge state={state} />
        </li>
      ))}
      {waiting.map(({ kind, name }) => (
        <li key={`${kind} ${name}`}>
          <Link href="/experiments">{name}</Link> <StateBadge state="queued" />
        </li>
      ))}
      {paused.map((name) => (
        <li key={`paused ${name}`}>
          <Link href="/experiments">{name}</Link> <StateBadge state="paused" />
        </li>
      ))}
    </ul>
  );
}
