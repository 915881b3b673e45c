/** Builds the addon, the package's source with our own kernels, against the staged TensorFlow. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { NativeLayout } from '../../native/folder.ts';
import { sharedObjects } from './library.ts';
import { runTool } from './run-tool.ts';

const REMEDY = 'Install a C++ compiler (Debian and Ubuntu: apt install g++), or give a prebuilt addon.';

export interface AddonSources {
  /** Our kernels, which include the package's sources. */
  readonly own: string;
  /** TensorFlow's headers. */
  readonly headers: string;
  /** A folder for temporary files. */
  readonly scratch: string;
}

/** Compiles them for this machine's processor; needs a C++17 compiler, neither node-gyp nor Python. */
export async function compileAddon(
  layout: NativeLayout,
  { own, headers, scratch }: AddonSources,
  signal?: AbortSignal,
): Promise<void> {
  const binding = join(layout.package, 'binding');
  // Ours includes the registration of the package's (addon.cc says why).
  const ofPackage = readdirSync(binding).filter((name) => name.endsWith('.cc') && name !== 'tfjs_binding.cc');
  const ofOwn = readdirSync(own).filter((name) => name.endsWith('.cc'));
  const libraries = sharedObjects(layout.libraries).map((name) => join(layout.libraries, name));
  const args = [
    ...['-std=c++17', '-O3', nativeFlag(), '-fno-math-errno', '-fno-trapping-math', '-fno-access-control'],
    ...['-shared', '-fPIC', '-pthread', '-DNAPI_VERSION=8', '-DNODE_GYP_MODULE_NAME=tfjs_binding'],
    // The source includes its own headers by "../binding/…".
    ...[`-I${nodeHeaders(scratch)}`, `-I${headers}`, `-I${layout.package}`, `-I${binding}`],
    ...[...ofOwn.map((name) => join(own, name)), ...ofPackage.map((name) => join(binding, name))],
    ...['-o', layout.addon, ...libraries, '-Wl,-rpath,$ORIGIN/tensorflow'],
  ];
  await runTool(process.env.CXX ?? 'c++', args, { signal, remedy: REMEDY });
}

/** Clang on arm64 has a different flag for the native CPU. */
function nativeFlag(): string {
  return process.arch === 'arm64' ? '-mcpu=native' : '-march=native';
}

/** Node's C headers, extracted: a packaged app has them in its archive, where a compiler can't read them. */
function nodeHeaders(scratch: string): string {
  const from = join(dirname(createRequire(import.meta.url).resolve('node-api-headers/package.json')), 'include');
  const to = join(scratch, 'node-headers');
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) writeFileSync(join(to, name), readFileSync(join(from, name)));
  return to;
}
