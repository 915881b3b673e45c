/** The package @tensorflow/tfjs-node-gpu: its JavaScript and the addon's source, without its install script. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { inputError } from '../../errors.ts';
import { type DownloadOptions, download } from './download.ts';
import { runTool } from './run-tool.ts';

const NAME = '@tensorflow/tfjs-node-gpu';
/** Matches the tfjs-core version in package.json. */
export const PACKAGE_VERSION = '4.22.0';
const REMEDY = `Give the package's tarball, a file or a URL (npm pack ${NAME}@${PACKAGE_VERSION} makes it).`;

/** Puts the package into `target`: given, installed, or fetched by npm. */
export async function fetchPackage(
  given: string | null,
  target: string,
  scratch: string,
  options: DownloadOptions,
): Promise<void> {
  const installed = given === null ? installedFolder() : null;
  if (installed !== null) copyPackage(installed, target);
  else await unpackPackage(await tarball(given, scratch, options), target, scratch, options.signal);
  checkPackage(target);
}

async function tarball(given: string | null, scratch: string, options: DownloadOptions): Promise<string> {
  if (given === null) return packByNpm(scratch, options.signal);
  if (!/^https?:\/\//.test(given)) {
    if (existsSync(given)) return resolve(given);
    throw inputError('PACKAGE_MISSING', `Expected a tarball of ${NAME} at ${given}, but there is none`, REMEDY);
  }
  const file = join(scratch, 'package.tgz');
  await download(given, file, options);
  return file;
}

async function packByNpm(scratch: string, signal: AbortSignal | undefined): Promise<string> {
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', scratch, `${NAME}@${PACKAGE_VERSION}`];
  // npm passes its own path to its scripts.
  const own = process.env.npm_execpath;
  // In the current folder npm would read an .npmrc of somebody else, and ask the registry that it names.
  const options = { cwd: scratch, signal, remedy: REMEDY };
  if (own?.endsWith('.js') === true) await runTool(process.execPath, [own, ...args], options);
  else await runTool('npm', args, options);
  const name = readdirSync(scratch).find((file) => file.endsWith('.tgz')) ?? 'package.tgz';
  return join(scratch, name);
}

async function unpackPackage(file: string, target: string, scratch: string, signal?: AbortSignal): Promise<void> {
  const folder = join(scratch, 'package-unpacked');
  mkdirSync(folder, { recursive: true });
  await runTool('tar', ['-xzf', file, '-C', folder], { signal, remedy: `${file} is damaged: download it again.` });
  copyPackage(join(folder, 'package'), target);
}

/** The parts that are needed: half a megabyte of JavaScript, and the addon's source. */
function copyPackage(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const part of ['package.json', 'dist', 'binding']) {
    if (existsSync(join(from, part))) cpSync(join(from, part), join(to, part), { recursive: true, dereference: true });
  }
}

function checkPackage(folder: string): void {
  const expected = ['package.json', 'dist/nodejs_kernel_backend.js', 'binding/tfjs_binding.cc'];
  const missing = expected.filter((part) => !existsSync(join(folder, part)));
  if (missing.length > 0)
    throw inputError('BAD_PACKAGE', `Expected ${missing.join(', ')} in the package ${NAME}, but it's missing`, REMEDY);
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>;
  if (version === PACKAGE_VERSION) return;
  throw inputError('BAD_PACKAGE', `Expected ${NAME} ${PACKAGE_VERSION}, got ${name} ${version}`, REMEDY);
}

function installedFolder(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${NAME}/package.json`));
  } catch {
    return null;
  }
}
