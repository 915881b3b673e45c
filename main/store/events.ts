/** Events of a run: warnings, pauses, ends, and the host's own notes. */
import { columns } from './columns.ts';
import { storedJson } from './json.ts';
import type { Db } from './open.ts';

export type EventSeverity = 'info' | 'warning' | 'error';

export interface NewEvent {
  readonly runId: number;
  readonly step: number;
  readonly kind: string;
  readonly severity: EventSeverity;
  readonly message: string;
  readonly remedy: string | null;
  readonly data: unknown;
}

export interface EventRow extends NewEvent {
  readonly id: number;
  readonly at: number;
}

type RawEvent = Omit<EventRow, 'data'> & { readonly dataJson: string | null };

const fields = columns(['id', 'run_id', 'step', 'kind', 'severity', 'message', 'remedy', 'data_json', 'at']);

function parse({ dataJson, ...rest }: RawEvent): EventRow {
  return { ...rest, data: dataJson === null ? null : storedJson(dataJson, `the details of event ${rest.id}`) };
}

/** Statements of the table `event`. */
export function openEventsTable(db: Db, now: () => number) {
  const upsert = db.prepare<Omit<RawEvent, 'id'>>(
    // A new id also for one that is repeated: ids are the order of a step's events, whatever the clock was set to.
    `insert or replace into event (run_id, step, kind, severity, message, remedy, data_json, at)
     values (@runId, @step, @kind, @severity, @message, @remedy, @dataJson, @at)`,
  );
  const ofRun = db.prepare<[number], RawEvent>(`select ${fields} from event where run_id = ? order by step, id`);
  const clear = db.prepare<[number, number]>('delete from event where run_id = ? and step > ?');

  return {
    /** Stores an event; the same message of the same kind and step is stored once. */
    record({ data, ...event }: NewEvent): void {
      const dataJson = data === null || data === undefined ? null : JSON.stringify(data);
      upsert.run({ ...event, dataJson, at: now() });
    },
    ofRun: (runId: number): EventRow[] => ofRun.all(runId).map(parse),
    discardAfter: (runId: number, step: number): number => clear.run(runId, step).changes,
  } as const;
}
