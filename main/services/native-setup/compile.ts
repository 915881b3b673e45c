/** Builds the addon, the package's source with kernels of our own, against the staged TensorFlow. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BraidError } from '../../errors.ts';
import type { NativeLayout } from '../../native/folder.ts';
import { sharedObjects } from './library.ts';
import { runTool } from './run-tool.ts';

const REMEDY = 'Install a C++ compiler (Debian and Ubuntu: apt install g++), or give a built addon with --addon FILE.';

/**
 * Compiles the sources in `own`, which bring in the package's, for this machine's processor; needs a C++17 compiler and
 * Node's headers, neither node-gyp nor Python.
 */
export async function compileAddon(
  layout: NativeLayout,
  own: string,
  headers: string,
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
    ...[`-I${nodeHeaders()}`, `-I${headers}`, `-I${layout.package}`, `-I${binding}`],
    ...[...ofOwn.map((name) => join(own, name)), ...ofPackage.map((name) => join(binding, name))],
    ...['-o', layout.addon, ...libraries, '-Wl,-rpath,$ORIGIN/tensorflow'],
  ];
  await runTool(process.env.CXX ?? 'c++', args, { signal, remedy: REMEDY });
}

/** Clang on arm64 knows this processor by another flag's name. */
function nativeFlag(): string {
  return process.arch === 'arm64' ? '-mcpu=native' : '-march=native';
}

/** Node's C headers come with its distribution; the interface of version 8 is the same in all that we support. */
function nodeHeaders(): string {
  const places = [join(dirname(process.execPath), '../include/node'), '/usr/include/node', '/usr/local/include/node'];
  const found = places.find((folder) => existsSync(join(folder, 'node_api.h')));
  if (found !== undefined) return found;
  throw new BraidError('NO_NODE_HEADERS', `Expected node_api.h in one of ${places.join(', ')}, not there`, {
    remedy: 'Run the set-up with the Node that npm ci brings (npm run setup:native), or give --addon FILE.',
  });
}
