/** Servers of engines that were started from here and may still be up: they may cost. */
import { formatDuration } from '../../text/format.ts';
import { mayBeUp, type ServerRecords } from '../engines/server-records.ts';
import { type Check, warn } from './check.ts';

/** A line for each; none where nothing is up. */
export function checkServers(records: Pick<ServerRecords, 'list'>): Check[] {
  return records
    .list()
    .filter(mayBeUp)
    .map(({ engine, where, startedAt, idleMinutes, endsIdle, maxHours }) =>
      warn(
        `Server of ${engine}`,
        `it may be up: ${where}, started ${formatDuration((Date.now() - startedAt) / 1000)} ago, ${
          endsIdle
            ? `ends by itself after ${formatDuration(idleMinutes * 60)} without use`
            : maxHours > 0
              ? `ends by itself after ${formatDuration(maxHours * 3600)}`
              : "doesn't end by itself"
        }`,
        `Stop it when you no longer need it: in Settings, Engines, or by braid engine down ${engine}`,
      ),
    );
}
