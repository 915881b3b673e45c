/** A run's events, as a list and as chart markers. Pure. */
import type { RunDetail } from '../../main/api/contract/index.ts';
import type { EventMarker } from '../charts/markers.ts';

export interface TimelineEntry {
  readonly key: string;
  readonly step: number;
  readonly at: number;
  readonly kind: EventMarker['kind'];
  /** One word for the list: "checkpoint". */
  readonly name: string;
  readonly message: string;
  readonly remedy: string | null;
}

const kinds: Readonly<Record<string, EventMarker['kind']>> = {
  warning: 'warning',
  paused: 'pause',
  resumed: 'resume',
  failed: 'error',
  interrupted: 'error',
};

/** Events and existing checkpoints, newest first. */
export function timelineOf({
  events,
  checkpoints,
}: Pick<RunDetail, 'events' | 'checkpoints'>): readonly TimelineEntry[] {
  const logged = events.map(({ id, step, at, kind, severity, message, remedy, data }): TimelineEntry => {
    if (isWarm(data)) return { key: `event-${id}`, step, at, kind: 'phase', name: 'warm-up', message, remedy };
    const known = kinds[kind] ?? (severity === 'warning' ? 'warning' : severity === 'error' ? 'error' : 'info');
    return { key: `event-${id}`, step, at, kind: known, name: kind, message, remedy };
  });
  // A run that saves often leaves hundreds of deleted checkpoints.
  const saved = checkpoints
    .filter(({ deletedAt }) => deletedAt === null)
    .map(({ id, step, createdAt }): TimelineEntry => {
      const message = `Saved at step ${step}`;
      return {
        key: `checkpoint-${id}`,
        step,
        at: createdAt,
        kind: 'checkpoint',
        name: 'checkpoint',
        message,
        remedy: null,
      };
    });
  return [...logged, ...saved].sort((a, b) => b.step - a.step || b.at - a.at);
}

/** Where a warm-up ends: the trainer's notice has this topic. */
function isWarm(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'topic' in data && data.topic === 'warm';
}

/** Entries marked in every chart, at most one per step and kind. */
export function markersOf(entries: readonly TimelineEntry[]): readonly EventMarker[] {
  const seen = new Set<string>();
  return entries.flatMap(({ step, kind, name, message }) => {
    const key = `${kind} ${step}`;
    if (kind === 'info' || seen.has(key)) return [];
    seen.add(key);
    return [{ at: step, kind, label: kind === 'checkpoint' ? 'checkpoint' : `${name}: ${message}` }];
  });
}
