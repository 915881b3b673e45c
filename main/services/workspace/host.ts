/** Which process owns a run, and whether it still exists; a process id alone may be reused. */
import { readFileSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { processExists, processStart } from '../../io/process-exists.ts';
import type { RunHost, RunRow } from '../../store/runs.ts';

/**
 * A run on another machine (a shared folder) counts as alive while its last heartbeat is more recent than this; one of
 * this machine is asked about after it.
 */
const longestSilenceMs = 120_000;
/** What its clock may be ahead of this one. A heartbeat further ahead is one of a copied workspace, and would last for hours. */
const foreignAheadMs = 900_000;

/** This process: its id, and `machine:start`, which differs for another process with the same id. */
export function currentHost(): RunHost {
  return { pid: process.pid, hostId: identityOf(process.pid) };
}

/** Whether the process that owned the run still exists. */
export function isHostAlive(
  { pid, hostId, heartbeatAt }: Pick<RunRow, 'pid' | 'hostId' | 'heartbeatAt'>,
  now: number,
  identify = identityOf,
): boolean {
  if (pid === null || hostId === null) return false;
  const [machine, start] = splitIdentity(hostId);
  const silenceMs = now - (heartbeatAt ?? Number.NaN);
  if (machine !== hostname()) return silenceMs < longestSilenceMs && silenceMs > -foreignAheadMs;
  // After a restart of the machine, the id alone may be another's.
  if (start === '' && heartbeatAt !== null && isBeforeBoot(heartbeatAt, now)) return false;
  if (!processExists(pid) || hostId !== identify(pid)) return false;
  return start !== '' || heartbeatAt === null || silenceMs < longestSilenceMs || !startedAfter(pid, heartbeatAt);
}

/** Whether a process took over the id of the one that was last heard from at `heartbeatAt`. */
function startedAfter(pid: number, heartbeatAt: number): boolean {
  const start = processStart(pid);
  return start !== null && start > heartbeatAt + clockToleranceMs;
}

/** Whether the process is, or was, on another machine, of which only its silence says that it is gone. */
export function isOnOtherMachine({ hostId }: Pick<RunRow, 'hostId'>): boolean {
  return hostId !== null && splitIdentity(hostId)[0] !== hostname();
}

/** What the clock may have been set forward by since the machine started, and what the system rounds. */
const clockToleranceMs = 5000;

/** Whether a time lies before this machine's last start: a process id noted then says nothing now. */
export function isBeforeBoot(at: number, now = Date.now()): boolean {
  return at < now - uptime() * 1000 - clockToleranceMs;
}

function splitIdentity(hostId: string): readonly [machine: string, start: string] {
  const at = hostId.lastIndexOf(':');
  return [hostId.slice(0, at), hostId.slice(at + 1)];
}

/** `machine:start` of a process. */
export function identityOf(pid: number): string {
  return `${hostname()}:${startOf(pid)}`;
}

/** The process's start time from the system; empty if unknown (then the id and the machine's start decide). */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the name in parentheses, may contain spaces; the 22nd field is the start time.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
