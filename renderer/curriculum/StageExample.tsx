/** What a stage trains on: the first records of its dataset. For a stage that has not run, there is nothing else to see. */
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { ShownRecord } from '../texts/ShownRecord.tsx';
import classes from './Curriculum.module.css';

const SHOWN = 6;

export function StageExample({ datasetId, name }: { readonly datasetId: number; readonly name: string }) {
  const input = { id: datasetId, side: 'train' as const, offset: 0, limit: SHOWN };
  const { data, error } = useQuery(api.datasets.records.queryOptions({ input }));
  const records = data?.records ?? [];
  if (error === null && records.length === 0) return null;
  const isPairs = records.every(({ kind }) => kind === 'interleave');
  return (
    <Panel
      title={`What ${name} trains on`}
      actions={
        <Link className={classes.link} href={`/texts/dataset/${datasetId}`}>
          {isPairs ? 'All pairs' : 'All records'}
        </Link>
      }
    >
      {error !== null && <Failed what="The records can't be shown" error={error} />}
      <div className={classes.examples}>
        {records.map((view) => (
          <ShownRecord key={view.line} view={view} />
        ))}
      </div>
    </Panel>
  );
}
