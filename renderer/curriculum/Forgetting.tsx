/** The forgetting check: every stage's checkpoint evaluated on the records of every stage, as a heat map. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ForgettingCell, ForgettingRow, Forgetting as ForgettingTable } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { type HeatCell, HeatMap, type HeatRow } from '../charts/HeatMap.tsx';
import { largest, smallest } from '../components/extremes.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { counted, score, signed } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';

/** A drop of more than this from a stage's best score is marked. */
const LOSS = 0.05;

export function Forgetting() {
  const { data, error, refetch } = useQuery(api.stages.forgetting.queryOptions());
  const check = useMutation({ mutationFn: () => client.stages.checkForgetting() });
  const missing = data?.missing ?? 0;
  const scale = scaleOf(data);
  return (
    <Panel
      title="Forgetting"
      actions={
        missing > 0 && (
          <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
            Measure {missing} missing
          </Button>
        )
      }
    >
      {error !== null && (
        <Failed what="The forgetting check can't be shown" error={error} onRetry={() => void refetch()} />
      )}
      {check.error !== null && <Failed what="The forgetting check did not finish" error={check.error} />}
      {data === undefined && error === null && <Loading what="the forgetting check" />}
      {data !== undefined && data.rows.length === 0 && (
        <p className="soft">
          Once a stage is trained, its checkpoint is evaluated on the held-out records of every stage so far. If a later
          stage forgets an earlier one, it shows here.
        </p>
      )}
      {data !== undefined && data.rows.length > 0 && data.columns.length === 0 && (
        <p className="soft">
          No trained stage has held-out records now: its dataset was deleted, or has none. Make the datasets again to
          measure every checkpoint on all of them.
        </p>
      )}
      {data !== undefined && data.rows.length > 0 && data.columns.length > 0 && (
        <HeatMap
          caption="Held-out score of each stage's checkpoint on the records of each stage"
          corner="after"
          columns={data.columns.map(({ name, words }) => (words === null ? name : counted(words, 'word')))}
          rows={data.rows.map((row, at) => heatRow(row, data.rows.slice(0, at), scale))}
          ends={[tick(scale.low), tick(scale.high)]}
        />
      )}
    </Panel>
  );
}

interface Scale {
  readonly low: number;
  readonly high: number;
}

/** Of interleaving, where chance is about 0.5, the shading starts near there; rewards of other tasks may be anything. */
function scaleOf(data: ForgettingTable | undefined): Scale {
  const means = (data?.rows ?? []).flatMap(({ cells }) => cells.flatMap((cell) => cell?.mean ?? []));
  const isAlignment = (data?.columns ?? []).every(({ words }) => words !== null);
  if (isAlignment || means.length === 0) return { low: 0.4, high: 1 };
  return { low: smallest(means), high: largest(means) };
}

function tick(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function heatRow(
  { stageId, name, checkpoint, cells }: ForgettingRow,
  before: readonly ForgettingRow[],
  scale: Scale,
): HeatRow {
  return {
    key: String(stageId ?? 'base'),
    label: stageId === null ? 'base model' : name,
    about: checkpoint === null ? 'the untrained model' : `run ${checkpoint.runId}, step ${checkpoint.step}`,
    cells: cells.map((cell, i) => (cell === null ? null : heatCell(cell, bestBefore(before, i), scale))),
  };
}

function bestBefore(rows: readonly ForgettingRow[], column: number): number | null {
  const means = rows.flatMap(({ cells }) => cells[column]?.mean ?? []);
  return means.length === 0 ? null : Math.max(...means);
}

function heatCell({ mean, low, high, n }: ForgettingCell, best: number | null, scale: Scale): HeatCell {
  const change = best === null ? null : mean - best;
  const interval = low === null || high === null ? '' : ` [${score(low)}, ${score(high)}]`;
  const against = change === null ? '' : `, ${signed(change)} from the earlier best`;
  return {
    text: score(mean),
    shade: scale.high === scale.low ? 1 : (mean - scale.low) / (scale.high - scale.low),
    about: `${score(mean)}${interval} on ${counted(n, 'prompt')}${against}`,
    warning: change !== null && change < -LOSS ? signed(change) : null,
  };
}
