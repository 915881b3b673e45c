/** The list of models, virtualized. */
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import type { ModelEntry } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { DistinctName } from '../components/DistinctName.tsx';
import { Empty } from '../components/Feedback.tsx';
import { bytes, compact, score } from '../components/format.ts';
import { lastCall } from '../components/last-call.ts';
import { PlainButton } from '../components/PlainButton.tsx';
import { type NameParts, tellApart } from '../components/tell-apart.ts';
import { useRows } from '../components/use-rows.ts';
import { useWhenIdle } from '../components/use-when-idle.ts';
import { When } from '../components/When.tsx';
import classes from './Models.module.css';
import type { ModelLine } from './model-rows.ts';

export interface ModelListProps {
  readonly lines: readonly ModelLine[];
  readonly sizes: Readonly<Record<string, number>> | undefined;
  readonly chosen: string | null;
  readonly onChoose: (ref: string) => void;
}

const HEIGHT = 32;

const partsOf = lastCall(tellApart);

/** Checkpoints stand under their run's name. */
function nameOfLine(line: ModelLine): string {
  return line.kind === 'heading' ? line.title : line.entry.name;
}

export function ModelList({ lines, sizes, chosen, onChoose }: ModelListProps) {
  const { data: served } = useQuery(api.models.served.queryOptions());
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useRows({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => HEIGHT,
    getItemKey: (index) => lines[index]?.key ?? index,
    // Lines beyond the visible ones are rendered once those are shown.
    overscan: useWhenIdle() ? 10 : 0,
    reservedHeight: 160,
  });
  const parts = useMemo(() => partsOf(lines.map(nameOfLine)), [lines]);
  const at = lines.findIndex((line) => line.kind === 'model' && line.entry.ref === chosen);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [at, virtual]);
  if (lines.length === 0) return <Empty title="No matching models" />;
  return (
    <>
      <div className={classes.columnNames} aria-hidden="true">
        <span>Name</span>
        <span>Origin</span>
        <span>Kind or score</span>
        <span>Parameters</span>
        <span>On disk</span>
      </div>
      <div ref={scroller} className={classes.list}>
        <div className={classes.inner} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const line = lines[index];
            return (
              <div key={key} className={classes.line} style={{ height: HEIGHT, transform: `translateY(${start}px)` }}>
                {line?.kind === 'heading' && (
                  <h2 className={classes.heading}>
                    <span className={classes.headingName}>
                      <DistinctName parts={parts(line.title)} />
                    </span>{' '}
                    <span className="faint num">{line.count}</span>
                  </h2>
                )}
                {line?.kind === 'model' && (
                  <Line
                    entry={line.entry}
                    parts={parts(line.entry.name)}
                    size={sizes?.[line.entry.ref]}
                    chosen={line.entry.ref === chosen}
                    served={served?.some((one) => one.ref === line.entry.ref) === true}
                    onChoose={() => onChoose(line.entry.ref)}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

interface LineProps {
  readonly entry: ModelEntry;
  readonly parts: NameParts;
  readonly size: number | undefined;
  readonly chosen: boolean;
  readonly served: boolean;
  readonly onChoose: () => void;
}

/** Of a checkpoint that its run no longer counts. */
export const ABANDONED =
  'Its run was resumed from an earlier step since: the curve and scores of the run are not of these weights.';

const kinds = { bundled: 'bundled', workspace: 'in the workspace', imported: 'imported folder' } as const;

function Line({ entry, parts, size, chosen, served, onChoose }: LineProps) {
  const { kind, name, step, checkpointKind, architecture, parameters, createdAt, heldOut, deleted, problem } = entry;
  const { abandoned } = entry;
  return (
    <PlainButton
      className={classes.model}
      data-chosen={chosen || undefined}
      data-gone={deleted || undefined}
      aria-pressed={chosen}
      onClick={onChoose}
    >
      <span className={classes.modelName}>
        {kind === 'checkpoint' ? `step ${step}` : <DistinctName parts={parts} title={name} />}
        {checkpointKind === 'final' && <span className="faint"> final</span>}
        {abandoned && (
          <span className="soft" title={ABANDONED}>
            {' '}
            · abandoned
          </span>
        )}
        {served && <span className="soft"> · served</span>}
        {problem !== null && (
          <span className={classes.bad} title={problem}>
            <IconAlertTriangle size={13} aria-hidden="true" /> {deleted ? 'deleted' : 'unreadable'}
          </span>
        )}
      </span>
      <span className="soft">{kind === 'checkpoint' ? <When at={createdAt} /> : kinds[kind]}</span>
      <span className="soft num">{heldOut === null ? (architecture ?? '') : `held-out ${score(heldOut)}`}</span>
      <span className="mono">{parameters === null ? '' : compact(parameters)}</span>
      <span className="mono">{size === undefined ? '' : bytes(size)}</span>
    </PlainButton>
  );
}
