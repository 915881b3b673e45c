/**
 * Why Vulkan finds no GPU on Linux: its loader, the driver's manifest, the driver's library, or what that library needs
 * is missing. A container often has the driver without the X11 and GLVND libraries that it needs.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { findProgram } from '../io/programs.ts';

export interface VulkanProblem {
  /** `library`: a driver is installed, and a library of it is missing. */
  readonly kind: 'loader' | 'driver' | 'library';
  readonly what: string;
  readonly remedy: string;
}

/** What the system says of its libraries. */
export interface LibrarySystem {
  /** Manifests of drivers. */
  readonly manifests: () => readonly string[];
  /** Where the loader finds a library; null: nowhere. */
  readonly find: (name: string) => string | null;
  /** What a library needs and the loader doesn't find. */
  readonly missing: (path: string) => readonly string[];
}

const LOADER = 'libvulkan.so.1';
const TIMEOUT_MS = 5000;

/** The first thing that is missing; null: nothing that can be seen from here. */
export function vulkanProblem(system: LibrarySystem = thisSystem()): VulkanProblem | null {
  if (system.find(LOADER) === null)
    return { kind: 'loader', what: `the Vulkan loader (${LOADER}) is missing`, remedy: 'Install libvulkan1.' };
  const manifests = system.manifests();
  if (manifests.length === 0)
    return {
      kind: 'driver',
      what: 'no Vulkan driver is installed',
      remedy:
        "Install mesa-vulkan-drivers for AMD and Intel, or NVIDIA's driver with its graphics libraries; in a container, NVIDIA's needs NVIDIA_DRIVER_CAPABILITIES=all.",
    };
  for (const manifest of manifests) {
    const problem = driverProblem(manifest, system);
    if (problem !== null) return problem;
  }
  return null;
}

function driverProblem(manifest: string, system: LibrarySystem): VulkanProblem | null {
  const library = libraryOf(manifest);
  if (library === null) return null;
  const path = library.includes('/') ? resolve(dirname(manifest), library) : system.find(library);
  const isThere = path !== null && (!library.includes('/') || existsSync(path));
  const missing = isThere ? [...system.missing(path), ...missingLoaders(library, system)] : [basename(library)];
  if (missing.length === 0) return null;
  const whose = isThere ? `${basename(library)} needs, the Vulkan driver` : 'the Vulkan driver';
  return {
    kind: 'library',
    what: `${missing.join(', ')} can't be found, which ${whose} of ${manifest}${isThere ? '' : ' names'}`,
    remedy: `Install ${[...new Set(missing.map(packageOf))].join(' ')} (as Debian and Ubuntu call it).`,
  };
}

/** NVIDIA's driver opens GLVND's loaders while it runs, so that ldd doesn't list them; it offers no adapter without. */
const GLVND = ['libEGL.so.1', 'libGLdispatch.so.0', 'libOpenGL.so.0', 'libGL.so.1', 'libGLX.so.0', 'libGLESv2.so.2'];

const missingLoaders = (driver: string, system: LibrarySystem): readonly string[] =>
  /nvidia/i.test(driver) ? GLVND.filter((name) => system.find(name) === null) : [];

function libraryOf(manifest: string): string | null {
  try {
    const { ICD } = JSON.parse(readFileSync(manifest, 'utf8')) as {
      readonly ICD?: { readonly library_path?: unknown };
    };
    return typeof ICD?.library_path === 'string' ? ICD.library_path : null;
  } catch {
    // The loader passes over it, too.
    return null;
  }
}

const PACKAGES: readonly (readonly [RegExp, string])[] = [
  [/^lib(GLX|EGL)?_?nvidia|^libnvidia/i, "libnvidia-gl-VERSION of NVIDIA's driver"],
  [/^libvulkan_/, 'mesa-vulkan-drivers'],
  [/^libz\.so/, 'zlib1g'],
  [/^libGLdispatch/, 'libglvnd0'],
  [/^libGLESv2/, 'libgles2'],
];

/** Debian's package of a shared library: `libX11.so.6` is in libx11-6, `libXext.so.6` in libxext6. */
export function packageOf(library: string): string {
  const known = PACKAGES.find(([pattern]) => pattern.test(library));
  if (known !== undefined) return known[1];
  const [, name, version = ''] = /^(.+?)\.so(?:\.(\d+))?/.exec(library) ?? [];
  if (name === undefined) return library;
  const plain = name.toLowerCase().replaceAll('_', '-');
  return version === '' ? plain : `${plain}${/\d$/.test(plain) ? '-' : ''}${version}`;
}

function thisSystem(): LibrarySystem {
  let cached: ReadonlyMap<string, string> | undefined;
  return {
    manifests: () => manifestsOf(process.env),
    find: (name) => {
      const folders = (process.env.LD_LIBRARY_PATH ?? '').split(delimiter).filter(Boolean);
      const near = [...folders, ...STANDARD].map((folder) => join(folder, name)).find((path) => existsSync(path));
      cached ??= loaderCache();
      return near ?? cached.get(name) ?? null;
    },
    missing: (path) =>
      [...output('ldd', [path]).matchAll(/^\s*(\S+) => not found$/gm)].flatMap(([, name]) => name ?? []),
  };
}

const ARCHITECTURE = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
const STANDARD = ['/lib', '/usr/lib'].flatMap((folder) => [
  folder,
  `${folder}64`,
  `${folder}/${ARCHITECTURE}-linux-gnu`,
]);

function manifestsOf(env: NodeJS.ProcessEnv): readonly string[] {
  const given = env.VK_DRIVER_FILES ?? env.VK_ICD_FILENAMES;
  const shared = ['/usr/local/etc', '/etc', '/usr/local/share', '/usr/share', join(homedir(), '.local/share')];
  const places = given?.split(delimiter).filter(Boolean) ?? shared.map((folder) => join(folder, 'vulkan/icd.d'));
  return places.flatMap((place) => (place.endsWith('.json') ? [place] : namesIn(place)));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((name) => (name.endsWith('.json') ? [join(folder, name)] : []));
  } catch {
    return [];
  }
}

/** The libraries that the loader knows, of this architecture. */
function loaderCache(): ReadonlyMap<string, string> {
  const lines = output('ldconfig', ['-p']).matchAll(/^\s*(\S+) \(([^)]*)\) => (.+)$/gm);
  const own = process.arch === 'arm64' ? 'AArch64' : 'x86-64';
  return new Map(
    [...lines].flatMap(([, name = '', kind = '', path = '']) => (kind.includes(own) ? [[name, path]] : [])),
  );
}

/** Empty where there is no such program, or it fails. */
function output(program: string, args: readonly string[]): string {
  try {
    // Not every user has /sbin on the PATH.
    const path = findProgram([program], [process.env.PATH ?? '', '/usr/sbin', '/sbin'].join(delimiter));
    if (path === undefined) return '';
    return execFileSync(path, [...args], {
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}
