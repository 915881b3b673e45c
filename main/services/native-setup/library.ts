/** TensorFlow's library and headers from a wheel or a C library archive. */
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { inputError } from '../../errors.ts';
import type { OnBytes } from './download.ts';
import { runTool } from './run-tool.ts';
import { archiveKind } from './source.ts';
import { listZip, unpackZip } from './zip.ts';

/** Unpacked parts: libraries for the set-up, headers for the compiler. */
export interface UnpackedLibrary {
  readonly headers: string;
  /** The NVIDIA wheels that this TensorFlow requires; empty for a CPU build. */
  readonly metadata: string;
}

export interface UnpackOptions {
  readonly onBytes?: OnBytes;
  readonly signal?: AbortSignal | undefined;
}

const WHEEL_LIBRARIES = ['tensorflow/libtensorflow_cc.so.2', 'tensorflow/libtensorflow_framework.so.2'] as const;
const HEADERS = /^tensorflow\/include\/(tensorflow\/c|tensorflow\/core\/platform|tsl|xla\/tsl)\//;

/** Unpacks `archive` so that `libraries` holds the shared objects; the rest goes under `scratch`. */
export async function unpackLibrary(
  archive: string,
  libraries: string,
  scratch: string,
  options: UnpackOptions = {},
): Promise<UnpackedLibrary> {
  mkdirSync(libraries, { recursive: true });
  const unpacked =
    archiveKind(archive) === 'wheel'
      ? await unpackWheel(archive, libraries, scratch, options)
      : await unpackTarball(archive, libraries, scratch, options);
  for (const name of sharedObjects(libraries)) checkMachine(join(libraries, name));
  return unpacked;
}

/** Only the shared objects of a wheel, flat into `libraries`: TensorFlow also looks for CUDA in its own folder. */
export async function unpackSharedObjects(wheel: string, libraries: string, scratch: string): Promise<void> {
  const entries = (await listZip(wheel)).filter(({ name }) => /\/lib\/[^/]+\.so(\.\d+)*$/.test(name));
  const folder = join(scratch, `${basename(wheel)}-unpacked`);
  await unpackZip(wheel, entries, folder);
  for (const { name } of entries) renameSync(join(folder, name), join(libraries, basename(name)));
}

async function unpackWheel(archive: string, libraries: string, scratch: string, options: UnpackOptions) {
  const entries = await listZip(archive);
  const names = new Set(entries.map(({ name }) => name));
  const missing = WHEEL_LIBRARIES.filter((name) => !names.has(name));
  if (missing.length > 0) {
    throw inputError(
      'NOT_TENSORFLOW',
      `${archive}: expected ${missing.join(' and ')} in the wheel, but it has none`,
      'Use a Linux wheel of tensorflow or tensorflow-cpu, version 2.18 or newer.',
    );
  }
  const wanted = entries.filter(
    ({ name }) => WHEEL_LIBRARIES.some((library) => library === name) || HEADERS.test(name) || isMetadata(name),
  );
  const folder = join(scratch, 'wheel');
  await unpackZip(archive, wanted, folder, options.onBytes);
  for (const name of WHEEL_LIBRARIES) renameSync(join(folder, name), join(libraries, basename(name)));
  const metadata = wanted.find(({ name }) => isMetadata(name));
  return {
    headers: join(folder, 'tensorflow/include'),
    metadata: metadata === undefined ? '' : readFileSync(join(folder, metadata.name), 'utf8'),
  };
}

function isMetadata(name: string): boolean {
  return /^[^/]+\.dist-info\/METADATA$/.test(name);
}

async function unpackTarball(archive: string, libraries: string, scratch: string, { signal }: UnpackOptions) {
  const folder = join(scratch, 'library');
  mkdirSync(folder, { recursive: true });
  const remedy = 'The archive is damaged or of another kind: download it again.';
  await runTool('tar', ['-xzf', archive, '-C', folder], { signal, remedy });
  const lib = join(folder, 'lib');
  if (!existsSync(lib) || !readdirSync(lib).includes('libtensorflow.so.2')) {
    throw inputError(
      'NOT_TENSORFLOW',
      `${archive}: expected lib/libtensorflow.so.2 in the archive, but it has none`,
      'Use libtensorflow for Linux from tensorflow.org.',
    );
  }
  cpSync(lib, libraries, { recursive: true, verbatimSymlinks: true });
  rmSync(lib, { recursive: true });
  return { headers: join(folder, 'include'), metadata: '' };
}

/** The shared objects of TensorFlow in a folder, the ones to link against. */
export function sharedObjects(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => /^libtensorflow(_cc|_framework)?\.so\.2$/.test(name));
}

const ELF_MACHINES: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' };

/** Otherwise only the linker would reject a library for another architecture, with an unclear message. */
function checkMachine(file: string): void {
  const head = Buffer.alloc(20);
  const descriptor = openSync(file, 'r');
  readSync(descriptor, head, 0, head.length, 0);
  closeSync(descriptor);
  const isElf = head.toString('latin1', 0, 4) === '\u007fELF';
  const machine = isElf ? (ELF_MACHINES[head.readUInt16LE(18)] ?? 'another architecture') : 'another system';
  if (machine === process.arch) return;
  throw inputError(
    'WRONG_MACHINE',
    `${basename(file)}: expected a library for linux ${process.arch}, got one for ${machine}`,
    'Use the archive for this machine.',
  );
}
