/** Which process owns a run, and whether it still exists; a process id alone may be reused. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { RunHost, RunRow } from '../../store/runs.ts';

/** A run on another machine (a shared folder) counts as alive while its last heartbeat is more recent than this. */
const foreignSilenceMs = 120_000;

/** This process: its id, and `machine:start`, which differs for another process with the same id. */
export function currentHost(): RunHost {
  return { pid: process.pid, hostId: identityOf(process.pid) };
}

/** Whether the process that owned the run still exists. */
export function isHostAlive(run: Pick<RunRow, 'pid' | 'hostId' | 'heartbeatAt'>, now: number): boolean {
  if (run.pid === null || run.hostId === null) return false;
  const [machine] = splitIdentity(run.hostId);
  if (machine !== hostname()) return run.heartbeatAt !== null && now - run.heartbeatAt < foreignSilenceMs;
  return processExists(run.pid) && run.hostId === identityOf(run.pid);
}

function splitIdentity(hostId: string): readonly [machine: string, start: string] {
  const at = hostId.lastIndexOf(':');
  return [hostId.slice(0, at), hostId.slice(at + 1)];
}

/** `machine:start` of a process. */
export function identityOf(pid: number): string {
  return `${hostname()}:${startOf(pid)}`;
}

/** The process's start time from the system; empty if unknown (then the id alone decides). */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the name in parentheses, may contain spaces; the 22nd field is the start time.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
