/**
 * `npm run setup:native`: stages TensorFlow's library and the addon of @tensorflow/tfjs-node-gpu, tests them, and only
 * then replaces an earlier set-up.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError } from '../../errors.ts';
import { writeFolderAtomic } from '../../io/atomic-write.ts';
import { makeFolder } from '../../io/make-folder.ts';
import { currentLayout, type NativeManifest, nativeFolder } from '../../native/folder.ts';
import { type NativeFacts, probeAddon } from '../../native/probe.ts';
import { problemSentence } from '../../native/problems.ts';
import { compileAddon } from './compile.ts';
import { download, type OnBytes } from './download.ts';
import { type Finding, findings } from './findings.ts';
import { unpackLibrary, unpackSharedObjects } from './library.ts';
import { type GpuFacts, readGpuFacts } from './machine.ts';
import { fetchPackage, PACKAGE_VERSION } from './package.ts';
import { cudaWheels, pipDownload } from './pip.ts';
import { isInterruption } from './run-tool.ts';
import { sourceName, TENSORFLOW_VERSION, type TensorflowSource, tensorflowSource } from './source.ts';
import type { TryOut } from './try-out.ts';

export interface SetupOptions {
  /** auto, own, pip, pip:REQUIREMENT, a URL or a file. */
  readonly from: string;
  /** File or URL of the package's tarball; null: the installed one, or npm's. */
  readonly package: string | null;
  /** File of a prebuilt addon; null: compile it. */
  readonly addon: string | null;
  /** Folder of our part of the addon's source. */
  readonly sources: string;
  /** Don't use the GPU. */
  readonly cpu: boolean;
  /** The folder of set-ups. */
  readonly folder?: string;
  readonly signal?: AbortSignal;
  readonly onStep?: (step: string) => void;
  readonly onBytes?: OnBytes;
  readonly onFindings?: (found: readonly Finding[]) => void;
  /** What the machine has; tests pass their own. */
  readonly machine?: GpuFacts;
  /** How the staged set-up is tested; by default in a process of this Node. */
  readonly tryOut?: TryOut;
}

export interface SetupReport extends Omit<NativeFacts, 'kernels'> {
  readonly folder: string;
  readonly source: string;
}

/** Sets up the native backend. If anything fails, an earlier set-up is unchanged. */
export async function setUpNative(options: SetupOptions): Promise<SetupReport> {
  const unsupported = unsupportedPlatform();
  if (unsupported !== null) throw unsupported;
  const folder = options.folder ?? nativeFolder();
  const machine = options.machine ?? (await readGpuFacts());
  const source = tensorflowSource(options.from, machine, options.cpu);
  options.onFindings?.(findings(machine, versionOf(source)));
  mkdirSync(folder, { recursive: true });
  removeLeftovers(folder);
  const staging = join(folder, `staging-${process.pid}`);
  try {
    return await stage(staging, folder, source, machine, options);
  } catch (error) {
    if (isInterruption(error)) throw new BraidError('INTERRUPTED', 'Interrupted; the existing set-up is unchanged.');
    throw error;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

async function stage(
  staging: string,
  folder: string,
  source: TensorflowSource,
  machine: GpuFacts,
  { signal, onBytes, ...options }: SetupOptions,
): Promise<SetupReport> {
  const step = (text: string): void => {
    signal?.throwIfAborted();
    options.onStep?.(text);
  };
  const transfer = { signal, ...(onBytes === undefined ? {} : { onBytes }) };
  const layout = currentLayout(staging);
  const scratch = join(staging, 'scratch');
  makeFolder(layout.root);
  mkdirSync(scratch);

  step(`downloading @tensorflow/tfjs-node-gpu ${PACKAGE_VERSION}`);
  await fetchPackage(options.package, layout.package, scratch, transfer);
  step(`downloading TensorFlow: ${sourceName(source)}`);
  const archive = await fetchArchive(source, scratch, transfer);
  step('unpacking TensorFlow');
  const { headers, metadata } = await unpackLibrary(archive, layout.libraries, scratch, transfer);
  const cuda = builtForCuda(source) && source.kind === 'pip' && machine.gpus.length > 0 ? cudaWheels(metadata) : [];
  for (const requirement of cuda) {
    step(`downloading ${requirement}`);
    await unpackSharedObjects(await pipDownload(requirement, scratch, signal), layout.libraries, scratch);
  }
  if (options.addon === null) {
    step('building the addon');
    await compileAddon(layout, { own: options.sources, headers, scratch }, signal);
  } else cpSync(options.addon, layout.addon);
  step('testing it');
  // The trainer that tests it reads this manifest; the library itself then reports the actual version.
  writeManifest(layout.manifest, versionOf(source), source);
  const { kernels: _, ...facts } = await tryOut(staging, options.tryOut);
  writeManifest(layout.manifest, facts.tensorflow, source);
  step('installing it');
  moveInPlace(layout.root, currentLayout(folder).root);
  return { ...facts, folder: currentLayout(folder).root, source: sourceName(source) };
}

async function fetchArchive(
  source: TensorflowSource,
  scratch: string,
  transfer: { readonly signal: AbortSignal | undefined; readonly onBytes?: OnBytes },
): Promise<string> {
  switch (source.kind) {
    case 'file':
      return source.path;
    case 'pip':
      return pipDownload(source.requirement, scratch, transfer.signal);
    case 'url': {
      // Not decoded: an escaped slash would lead out of the folder.
      const file = join(scratch, new URL(source.url).pathname.split('/').at(-1) || 'archive');
      await download(source.url, file, transfer);
      return file;
    }
  }
}

async function tryOut(staging: string, tried: TryOut = (at) => probeAddon(currentLayout(at).addon)) {
  const probe = await tried(staging);
  if (probe.ok) return probe.facts;
  throw new BraidError('NATIVE_FAILED', `The native backend was built, but ${problemSentence(probe.problem)}`, {
    remedy: 'Try another TensorFlow. An existing set-up is unchanged, and the wasm backend still works.',
  });
}

function writeManifest(file: string, tensorflow: string, source: TensorflowSource): void {
  const manifest: NativeManifest = {
    version: 1,
    tensorflow,
    source: sourceName(source),
    addon: PACKAGE_VERSION,
    cuda: builtForCuda(source),
  };
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Builds without CUDA say "cpu" in their name. */
function builtForCuda(source: TensorflowSource): boolean {
  return !/[-_]cpu\b|[-_]cpu[-_]/.test(sourceName(source).split('/').at(-1) ?? '');
}

function moveInPlace(from: string, to: string): void {
  writeFolderAtomic(
    to,
    (temporary) => {
      for (const name of readdirSync(from)) renameSync(join(from, name), join(temporary, name));
    },
    { what: 'the native backend' },
  );
}

/** Leftovers of killed set-ups whose process has ended. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = /^staging-(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function versionOf(source: TensorflowSource): string {
  return /(\d+\.\d+(?:\.\d+)?)/.exec(sourceName(source).split('/').at(-1) ?? '')?.[1] ?? TENSORFLOW_VERSION;
}

/** Why this platform can't have a native backend; null: it can. */
export function unsupportedPlatform(): BraidError | null {
  if (process.platform === 'linux' && (process.arch === 'x64' || process.arch === 'arm64')) return null;
  return new BraidError(
    'UNSUPPORTED_PLATFORM',
    `Expected Linux on x64 or arm64 for the native backend, got ${process.platform} on ${process.arch}`,
    { kind: 'input', remedy: 'Use the wasm backend; on Windows the native one works under WSL 2.' },
  );
}
