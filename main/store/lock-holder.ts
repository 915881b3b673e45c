/** Which process keeps a database locked, as far as the system says: Linux lists locks, others don't. */
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';

/** The index that stands for the right to write in the database's shared memory (SQLite's walformat, WAL_WRITE_LOCK). */
const WRITE_LOCK = 120;
const MAX_COMMAND = 80;

/** "process 4711 (sqlite3 braid.db)"; null: unknown. */
export function lockHolder(file: string): string | null {
  try {
    const [main, shared] = [file, `${file}-shm`].map((path) => statSync(path, { throwIfNoEntry: false })?.ino);
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const [, pid, inode, first, last] = / WRITE (\d+) \w+:\w+:(\d+) (\d+) (\d+|EOF)$/.exec(line) ?? [];
      const isWriter = Number(first) <= WRITE_LOCK && WRITE_LOCK <= Number(last);
      const holds = Number(inode) === main || (Number(inode) === shared && isWriter);
      if (pid !== undefined && Number(pid) > 0 && holds) return `process ${pid}${commandOf(pid)}`;
    }
  } catch {
    // Another system, or one that hides its locks.
  }
  return null;
}

function commandOf(pid: string): string {
  if (Number(pid) === process.pid) return ' (this one)';
  try {
    const [program = '', script = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    // Further arguments may hold what is nobody else's to read.
    const words = [program, script]
      .filter((word) => word !== '' && !word.startsWith('-'))
      .map((word) => basename(word));
    return words.length === 0 ? '' : ` (${words.join(' ').slice(0, MAX_COMMAND)})`;
  } catch {
    return '';
  }
}
