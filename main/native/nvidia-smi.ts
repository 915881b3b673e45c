/** What nvidia-smi says of NVIDIA's GPUs: the one place that asks it and reads its answers. */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '../io/programs.ts';

const run = promisify(execFile);

export interface NvidiaGpu {
  readonly name: string;
  /** null: the GPU has no memory of its own to tell, or hides it. */
  readonly totalBytes: number | null;
  readonly freeBytes: number | null;
  /** The driver's version. */
  readonly driver: string;
}

/** Runs the tool and gives its output; rejects where there is none. It takes a second if a GPU is asleep. */
export type AskSmi = (args: readonly string[]) => Promise<string>;

const TIMEOUT_MS = 10_000;
const FORMAT = '--format=csv,noheader,nounits';
const GPUS = ['--query-gpu=name,memory.total,memory.free,driver_version', FORMAT] as const;
const PROCESSES = ['--query-compute-apps=pid,used_memory', FORMAT] as const;

const askSmi: AskSmi = async (args) => (await run(smi(), [...args], { timeout: TIMEOUT_MS })).stdout;

/** All GPUs; rejects without the tool. */
export async function askNvidiaGpus(ask: AskSmi = askSmi): Promise<readonly NvidiaGpu[]> {
  return readGpus(await ask(GPUS));
}

/** The same at once, for a process that has nothing else to do; none without the tool: WSL and containers may lack it. */
export function nvidiaGpusNow(): readonly NvidiaGpu[] {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return readGpus(execFileSync(smi(), [...GPUS], { encoding: 'utf8', timeout: TIMEOUT_MS, stdio: [...stdio] }));
  } catch {
    return [];
  }
}

/** Bytes that a process holds on all GPUs together; null where the tool doesn't tell. */
export async function askHeldBytes(pid: number, ask: AskSmi = askSmi): Promise<number | null> {
  return readHeld(await ask(PROCESSES), pid);
}

/**
 * Free bytes of the GPU whose name is part of `device`, the longest if there are several ("RTX 3080 Ti" contains
 * "RTX 3080"), otherwise of the one in this line; null: not known.
 */
export function freeOfDevice(gpus: readonly NvidiaGpu[], device = '', line = 0): number | null {
  const named = gpus.filter(({ name }) => name !== '' && device.includes(name));
  const [longest] = named.sort((a, b) => b.name.length - a.name.length);
  return (longest ?? gpus[line])?.freeBytes ?? null;
}

/** `NVIDIA H200, 143771, 140000, 550.54.15`, one line per GPU, in MiB; anything else is a message. */
export function readGpus(output: string): readonly NvidiaGpu[] {
  return fields(output).flatMap(([name = '', total = '', free = '', driver]) =>
    driver === undefined ? [] : [{ name, totalBytes: mebibytes(total), freeBytes: mebibytes(free), driver }],
  );
}

/** `1234, 5678`, one line per process and GPU: its number and MiB. Containers hide processes: then null. */
export function readHeld(output: string, pid: number): number | null {
  const own = fields(output).flatMap(([id, used = '']) => (Number(id) === pid ? (mebibytes(used) ?? []) : []));
  return own.length === 0 ? null : own.reduce((a, b) => a + b, 0);
}

/** By its full path: by name, Windows would take one from the current folder (and a libuv before 1.48 always does). */
function smi(): string {
  const name = process.platform === 'win32' ? 'nvidia-smi.exe' : 'nvidia-smi';
  // A worker's copy of Windows' environment has the name as it was written.
  const found = findProgram([name], process.env.PATH ?? process.env.Path ?? '');
  if (found === undefined) throw new Error(`${name} is not on the PATH`);
  return found;
}

function fields(output: string): string[][] {
  const lines = output.split('\n').filter((line) => line.includes(','));
  return lines.map((line) => line.split(',').map((field) => field.trim()));
}

function mebibytes(text: string): number | null {
  const value = Number.parseInt(text, 10);
  return Number.isFinite(value) ? value * 2 ** 20 : null;
}
