/** The fields in which the saved configurations of runs differ. */
import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import classes from './Runs.module.css';
import { settingText } from './setting-text.ts';
import { useAllRuns } from './use-all-runs.ts';

export function ConfigDiff({ runIds }: { readonly runIds: readonly number[] }) {
  const { data, error } = useQuery(api.runs.compareConfigs.queryOptions({ input: { runIds: [...runIds] } }));
  const { data: runs = [] } = useAllRuns();
  if (error !== null) return <Failed what="The configurations can't be compared" error={error} />;
  if (data === undefined) return <Loading what="the configurations" />;
  if (data.length === 0) return <p className="soft">These runs have the same configuration.</p>;
  return (
    <div className={classes.diff}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Setting</Table.Th>
            {runIds.map((runId) => (
              <Table.Th key={runId}>{runs.find(({ id }) => id === runId)?.name ?? `run ${runId}`}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.map(({ field, meaning, unit, values }) => (
            <Table.Tr key={field} title={meaning ?? undefined}>
              <Table.Th scope="row" className="mono">
                {field}
                {unit !== null && <span className="faint"> {unit}</span>}
              </Table.Th>
              {runIds.map((runId, i) => (
                <Table.Td key={runId} className="mono">
                  {settingText(values[i])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
