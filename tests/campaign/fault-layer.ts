/**
 * A disk that fails, inside the process: loaded by `--import` before the program, it makes one of Node's writing calls
 * below BRAID_FAULT_BELOW throw as a full, read-only or broken disk would. The processes that the program starts
 * inherit it. SQLite writes by itself and is not reached.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const below = process.env.BRAID_FAULT_BELOW ?? '/nowhere';
const code = process.env.BRAID_FAULT_CODE ?? 'ENOSPC';
/** Writing calls that still work. */
let left = Number(process.env.BRAID_FAULT_AFTER ?? '0');
/** Whether everything after the first fault fails too. */
const lasting = process.env.BRAID_FAULT_LASTING === '1';
const files = new Map<number, string>();

function check(path: unknown, syscall: string): void {
  if (!String(path).startsWith(below)) return;
  left -= 1;
  if (left > 0 || (left < 0 && !lasting)) return;
  throw Object.assign(new Error(`${code}: made up by the campaign, ${syscall} '${path}'`), { code, syscall, path });
}

const original = { ...fs };
const isWriting = (flags: unknown): boolean =>
  typeof flags === 'number' ? (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0 : /[wa+]/.test(`${flags}`);

fs.openSync = (path, flags, ...rest) => {
  if (isWriting(flags)) check(path, 'open');
  const file = original.openSync(path, flags, ...rest);
  if (isWriting(flags)) files.set(file, String(path));
  return file;
};
fs.closeSync = (file) => {
  files.delete(file);
  original.closeSync(file);
};
fs.writeSync = ((file: number, ...rest: [never]) => {
  if (files.has(file)) check(files.get(file), 'write');
  return original.writeSync(file, ...rest);
}) as typeof fs.writeSync;
fs.fsyncSync = (file) => {
  if (files.has(file)) check(files.get(file), 'fsync');
  original.fsyncSync(file);
};
fs.writeFileSync = (path, ...rest) => {
  check(typeof path === 'number' ? files.get(path) : path, 'write');
  original.writeFileSync(path, ...rest);
};
fs.renameSync = (from, to) => {
  check(to, 'rename');
  original.renameSync(from, to);
};
fs.mkdirSync = ((path: fs.PathLike, ...rest: []) => {
  check(path, 'mkdir');
  return original.mkdirSync(path, ...rest);
}) as typeof fs.mkdirSync;
syncBuiltinESMExports();
