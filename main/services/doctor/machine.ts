/** Node, processor, memory. */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { hostMemory, type Memory } from '../../io/memory.ts';
import { counted, formatBytes } from '../../text/format.ts';
import { type Check, fail, ok, warn } from './check.ts';

const GIB = 2 ** 30;

export function checkMachine(): Check[] {
  return [checkNode(process.versions.node), checkProcessor(), checkMemory(hostMemory())];
}

/** better-sqlite3 and running TypeScript directly need 22.18. */
export function checkNode(version: string): Check {
  const detail = `${version}, ${process.execPath}`;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return ok('Node', detail);
  return fail('Node', `${detail}; expected 22.18 or newer`, 'Start Braid through npm (npm run braid -- doctor).');
}

function checkProcessor(): Check {
  const model = cpus()[0]?.model.trim() || process.arch;
  const simd = simdFeatures();
  const detail = `${model}, ${counted(availableParallelism(), 'thread')}${simd === '' ? '' : `, ${simd}`}`;
  return ok('Processor', detail);
}

/** The widest SIMD extensions, if known. */
function simdFeatures(): string {
  if (process.arch === 'arm64') return 'NEON';
  try {
    const flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]?.split(' ') ?? [];
    return ['sse4_1', 'avx2', 'fma', 'avx512f'].filter((flag) => flags.includes(flag)).join(' ');
  } catch {
    // Only Linux has the file.
    return '';
  }
}

/** The bundled model trains in under 1.5 GiB. */
export function checkMemory({ freeBytes, totalBytes }: Memory): Check {
  const limited = totalBytes < totalmem() ? ' (a limit; the machine has more)' : '';
  const detail = `${formatBytes(totalBytes)}${limited}, ${formatBytes(freeBytes)} free`;
  if (totalBytes < GIB) return fail('Memory', `${detail}; expected at least 1 GiB`, 'Use a machine with more memory.');
  if (freeBytes >= 1.5 * GIB) return ok('Memory', detail);
  return warn('Memory', detail, 'Close other programs before training: the bundled model needs up to 1.5 GiB.');
}
