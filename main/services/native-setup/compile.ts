/** Builds the addon from the package's source against the staged TensorFlow. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { NativeLayout } from '../../native/folder.ts';
import { sharedObjects } from './library.ts';
import { runTool } from './run-tool.ts';

const REMEDY = 'Install a C++ compiler (Debian and Ubuntu: apt install g++), or give a built addon with --addon FILE.';

/** Compiles two source files; needs a C++17 compiler, neither node-gyp nor Python. */
export async function compileAddon(
  layout: NativeLayout,
  headers: string,
  scratch: string,
  signal?: AbortSignal,
): Promise<void> {
  const sources = readdirSync(join(layout.package, 'binding')).filter((name) => name.endsWith('.cc'));
  const libraries = sharedObjects(layout.libraries).map((name) => join(layout.libraries, name));
  const args = [
    ...['-std=c++17', '-O2', '-shared', '-fPIC', '-DNAPI_VERSION=8', '-DNODE_GYP_MODULE_NAME=tfjs_binding'],
    // The source includes its own headers by "../binding/…".
    ...[`-I${nodeHeaders(scratch)}`, `-I${headers}`, `-I${layout.package}`],
    ...sources.map((name) => join(layout.package, 'binding', name)),
    ...['-o', layout.addon, ...libraries, '-Wl,-rpath,$ORIGIN/tensorflow'],
  ];
  await runTool(process.env.CXX ?? 'c++', args, { signal, remedy: REMEDY });
}

/** Node's C headers, copied out: a packaged app keeps them in its archive, where no compiler can read them. */
function nodeHeaders(scratch: string): string {
  const from = join(dirname(createRequire(import.meta.url).resolve('node-api-headers/package.json')), 'include');
  const to = join(scratch, 'node-headers');
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) writeFileSync(join(to, name), readFileSync(join(from, name)));
  return to;
}
