/** What a stage trains on: the first pairs of its dataset. For a stage that has not run, there is nothing else to see. */
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { RecordCard } from '../texts/RecordCard.tsx';
import classes from './Curriculum.module.css';

const SHOWN = 6;

export function StageExample({ datasetId, name }: { readonly datasetId: number; readonly name: string }) {
  const input = { id: datasetId, side: 'train' as const, offset: 0, limit: SHOWN };
  const { data, error } = useQuery(api.datasets.records.queryOptions({ input }));
  const records = (data?.records ?? []).flatMap((view) => (view.kind === 'interleave' ? [view.record] : []));
  if (error === null && records.length === 0) return null;
  return (
    <Panel
      title={`What ${name} trains on`}
      actions={
        <Link className={classes.link} href={`/texts/dataset/${datasetId}`}>
          All pairs
        </Link>
      }
    >
      {error !== null && <Failed what="The pairs can't be shown" error={error} />}
      <div className={classes.examples}>
        {records.map((record) => (
          <RecordCard key={record.id} record={record} />
        ))}
      </div>
    </Panel>
  );
}
