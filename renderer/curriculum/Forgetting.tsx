/** The forgetting check: every stage's checkpoint evaluated at every length, as a heat map. */
import { Button, Tooltip } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ForgettingCell, ForgettingRow } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { score, signed } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import classes from './Forgetting.module.css';

/** A drop of more than this from a length's best score is marked. */
const LOSS = 0.05;

export function Forgetting() {
  const { data, error } = useQuery(api.stages.forgetting.queryOptions());
  const check = useMutation({ mutationFn: () => client.stages.checkForgetting() });
  const missing = data?.missing ?? 0;
  return (
    <Panel
      title="Forgetting"
      className={classes.panel ?? ''}
      actions={
        missing > 0 && (
          <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
            Measure {missing} missing
          </Button>
        )
      }
    >
      {error !== null && <Failed what="The forgetting check can't be shown" error={error} />}
      {check.error !== null && <Failed what="The forgetting check did not finish" error={check.error} />}
      {data === undefined && error === null && <Loading what="the forgetting check" />}
      {data !== undefined && data.rows.length === 0 && (
        <p className="soft">
          Once a stage is trained, its checkpoint is evaluated on the held-out pairs of every length so far. If a later
          stage forgets an earlier length, it shows here.
        </p>
      )}
      {data !== undefined && data.rows.length > 0 && (
        <div className={classes.scroll}>
          <table className={classes.map}>
            <caption className="visually-hidden">Held-out score of each stage's checkpoint at each length</caption>
            <thead>
              <tr>
                <th scope="col">after</th>
                {data.columns.map(({ stageId, words }) => (
                  <th key={stageId} scope="col" className="num">
                    {words} words
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.rows.map((row, at) => (
                <Row key={row.stageId ?? 'base'} row={row} before={data.rows.slice(0, at)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function Row({ row, before }: { readonly row: ForgettingRow; readonly before: readonly ForgettingRow[] }) {
  const step = row.checkpoint === null ? null : `run ${row.checkpoint.runId}, step ${row.checkpoint.step}`;
  return (
    <tr>
      <th scope="row" title={step ?? 'the untrained model'}>
        {row.stageId === null ? 'base model' : row.name}
      </th>
      {row.cells.map((cell, i) => (
        // Cells are identified by position only.
        // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
        <Cell key={i} cell={cell} best={bestBefore(before, i)} />
      ))}
    </tr>
  );
}

function bestBefore(rows: readonly ForgettingRow[], column: number): number | null {
  const means = rows.flatMap(({ cells }) => cells[column]?.mean ?? []);
  return means.length === 0 ? null : Math.max(...means);
}

function Cell({ cell, best }: { readonly cell: ForgettingCell | null; readonly best: number | null }) {
  if (cell === null) {
    return (
      <td className={classes.none}>
        <span title="not measured">–</span>
      </td>
    );
  }
  const change = best === null ? null : cell.mean - best;
  const lost = change !== null && change < -LOSS;
  const interval = cell.low === null || cell.high === null ? '' : ` [${score(cell.low)}, ${score(cell.high)}]`;
  const against = change === null ? '' : `, ${signed(change)} from the earlier best`;
  // Chance level is about 0.5, so the shading starts near there.
  const ground = Math.round(100 * Math.max(0, Math.min(1, (cell.mean - 0.4) / 0.6)));
  return (
    <Tooltip label={`${score(cell.mean)}${interval} on ${cell.n} prompts${against}`}>
      <td className={classes.cell} style={{ '--ground': `${ground}%` } as React.CSSProperties}>
        <span className="num">{score(cell.mean)}</span>
        {lost && <span className={classes.lost}>{signed(change)}</span>}
      </td>
    </Tooltip>
  );
}
