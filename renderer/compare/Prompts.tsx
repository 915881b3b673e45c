/** Every prompt with the completions of the baseline and the chosen model, sorted and filtered. Virtualized. */
import { Select, Switch, TextInput } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import type { ComparisonView } from '../../main/api/contract/index.ts';
import { Legend } from '../components/Aligned.tsx';
import type { WordKind } from '../components/aligned-words.ts';
import { Empty } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { useKeys } from '../frame/keys.tsx';
import type { GainRange } from './Charts.tsx';
import classes from './Compare.module.css';
import { Prompt } from './Prompt.tsx';
import { chooseRows, type RowFilter, type RowOrder, rowFilters, rowOrders } from './prompt-rows.ts';
import { labelsOf, namesOf } from './series.ts';

export interface PromptsProps {
  readonly view: ComparisonView;
  readonly chosen: number;
  readonly gains: GainRange | null;
  readonly onGains: (gains: GainRange | null) => void;
}

/** Estimated row heights before measuring: a head, and two one-line completions. */
const OPEN = 92;
const CLOSED = 37;

export function Prompts({ view, chosen, gains, onGains }: PromptsProps) {
  const { id, rows, models } = view;
  const [filter, setFilter] = useState<RowFilter>('all');
  const [order, setOrder] = useState<RowOrder>('gain');
  const [search, setSearch] = useState('');
  const [words, setWords] = useState(true);
  const [everyModel, setEveryModel] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<WordKind>>(new Set());
  const [current, setCurrent] = useState<number | null>(null);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const shown = useMemo(
    () => chooseRows(rows, { position: chosen, filter, order, search, gains }),
    [rows, chosen, filter, order, search, gains],
  );
  const labels = useMemo(() => labelsOf(models), [models]);
  const names = useMemo(() => namesOf(models), [models]);
  const positions = everyModel ? models.map((_, position) => position) : [0, chosen];
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (words ? OPEN : CLOSED),
    getItemKey: (index) => shown[index]?.id ?? index,
    overscan: 4,
  });
  const go = (by: number): void => {
    const next = Math.max(0, Math.min(shown.length - 1, (current ?? -1) + by));
    setCurrent(next);
    virtual.scrollToIndex(next, { align: 'auto' });
  };
  const latest = useRef(go);
  latest.current = go;
  useKeys(
    useMemo(
      () => [
        { key: 'j', label: 'Next prompt', run: () => latest.current(1) },
        { key: 'k', label: 'Previous prompt', run: () => latest.current(-1) },
        { key: 'w', label: 'Show or hide completions', run: () => setWords((before) => !before) },
      ],
      [],
    ),
  );
  const toggle = (recordId: string): void => {
    const next = new Set(toggled);
    if (!next.delete(recordId)) next.add(recordId);
    setToggled(next);
  };
  const picked = gains !== null;
  return (
    <Panel
      title={`Prompts, ${labels[chosen]} against ${labels[0]}`}
      actions={view.metric.isAligned && <Legend hidden={hidden} onChange={setHidden} />}
    >
      <div className={classes.tools}>
        <Select
          aria-label="Order"
          w={170}
          data={[...rowOrders]}
          value={order}
          onChange={(value) => setOrder((value ?? 'gain') as RowOrder)}
          allowDeselect={false}
        />
        <Select
          aria-label="Filter prompts"
          w={150}
          data={[...rowFilters]}
          value={filter}
          onChange={(value) => setFilter((value ?? 'all') as RowFilter)}
          allowDeselect={false}
        />
        <TextInput
          aria-label="Search titles"
          placeholder="Search titles"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Switch label="Completions" checked={words} onChange={() => setWords(!words)} />
        {models.length > 2 && (
          <Switch label="All models" checked={everyModel} onChange={() => setEveryModel(!everyModel)} />
        )}
        {picked && (
          <button type="button" className={classes.clear} onClick={() => onGains(null)}>
            Clear the gain filter
          </button>
        )}
        <span className="soft num">
          {number(shown.length)} of {number(rows.length)}
        </span>
      </div>
      {shown.length === 0 ? (
        <Empty title="No matching prompts">
          <p>Change the filter or clear the search.</p>
        </Empty>
      ) : (
        <section ref={scroller} className={classes.rows} aria-label="Prompts" tabIndex={-1}>
          <div className={classes.inner} style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, key, start }) => {
              const row = shown[index];
              if (row === undefined) return null;
              return (
                <div
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  data-open={index === current || undefined}
                  className={classes.row}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <Prompt
                    {...{ id, row, models, names, chosen, positions, hidden }}
                    open={words !== toggled.has(row.id)}
                    onToggle={() => toggle(row.id)}
                  />
                </div>
              );
            })}
          </div>
        </section>
      )}
    </Panel>
  );
}
