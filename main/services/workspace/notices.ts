/** Notices that users should see on any screen: a stage's end, a crash, a collapse. Newest first. */
import type { EventSeverity } from '../../store/events.ts';
import type { Changes } from './changes.ts';

export interface Notice {
  readonly id: number;
  readonly at: number;
  readonly severity: EventSeverity;
  readonly message: string;
  readonly remedy: string | null;
  readonly runId: number | null;
}

export interface Notices {
  add(notice: Omit<Notice, 'id' | 'at'>): void;
  list(): readonly Notice[];
  dismiss(id: number): void;
  /** Called with each new one: the desktop shows it as a notification. */
  listen(listener: (notice: Notice) => void): () => void;
}

const REMEMBERED = 30;

/** Opens an empty list. */
export function openNotices(changes: Pick<Changes, 'publish'>, now: () => number = Date.now): Notices {
  let notices: readonly Notice[] = [];
  const listeners = new Set<(notice: Notice) => void>();
  let lastId = 0;
  return {
    add: (notice) => {
      const added = { ...notice, id: ++lastId, at: now() };
      notices = [added, ...notices].slice(0, REMEMBERED);
      changes.publish('status');
      for (const listener of listeners) listener(added);
    },
    list: () => notices,
    dismiss: (id) => {
      notices = notices.filter((notice) => notice.id !== id);
      changes.publish('status');
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
