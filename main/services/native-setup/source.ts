/** Sources of TensorFlow: a wheel or a C library, from a file, a URL, or pip. */
import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { inputError } from '../../errors.ts';
import type { GpuFacts } from './machine.ts';
import { cudaRequirements, driverAtLeast } from './requirements.ts';

export type TensorflowSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'pip'; readonly requirement: string };

/** The default TensorFlow of a set-up. */
export const TENSORFLOW_VERSION = '2.21.0';
/** The library that the package itself was released with. */
const OWN_VERSION = '2.9.1';
const OWN_URL = 'https://storage.googleapis.com/tensorflow/libtensorflow/libtensorflow';

/** Reads `--from`: auto, own, pip, pip:REQUIREMENT, a URL or a file; `cpu` ignores the GPU. */
export function tensorflowSource(from: string, gpu: GpuFacts, cpu: boolean): TensorflowSource {
  const flavour = cpu || !gpuIsUsable(gpu, TENSORFLOW_VERSION) ? 'cpu' : 'gpu';
  if (from === 'auto' || from === 'pip')
    return {
      kind: 'pip',
      requirement: `${flavour === 'cpu' ? 'tensorflow-cpu' : 'tensorflow'}==${TENSORFLOW_VERSION}`,
    };
  if (from === 'own') {
    const own = cpu || !gpuIsUsable(gpu, OWN_VERSION) ? 'cpu' : 'gpu';
    return { kind: 'url', url: `${OWN_URL}-${own}-linux-x86_64-${OWN_VERSION}.tar.gz` };
  }
  if (from.startsWith('pip:')) return { kind: 'pip', requirement: requirementOf(from.slice(4)) };
  if (/^https?:\/\//.test(from)) return { kind: 'url', url: from };
  const path = resolve(from);
  if (existsSync(path)) return { kind: 'file', path };
  throw inputError(
    'SOURCE_MISSING',
    `Expected the source to be auto, own, pip, pip:REQUIREMENT, a URL or a file, got "${from}", which isn't an existing file`,
  );
}

/** A requirement must not contain pip options. */
function requirementOf(text: string): string {
  if (/^[A-Za-z0-9]/.test(text)) return text;
  throw inputError(
    'BAD_REQUIREMENT',
    `Expected pip:NAME such as pip:tensorflow-cpu==${TENSORFLOW_VERSION}, got "pip:${text}"`,
  );
}

/** Whether there are a GPU and a driver new enough for this TensorFlow. */
export function gpuIsUsable({ gpus, driver }: GpuFacts, tensorflow: string): boolean {
  return gpus.length > 0 && driver !== null && driverAtLeast(driver, cudaRequirements(tensorflow).driver);
}

/** The kind of archive, by file name. */
export function archiveKind(file: string): 'wheel' | 'tarball' {
  if (file.endsWith('.whl')) return 'wheel';
  if (/\.(tar\.gz|tgz)$/.test(file)) return 'tarball';
  throw inputError(
    'BAD_ARCHIVE',
    `Expected a TensorFlow wheel (.whl) or C library (.tar.gz), got ${basename(file)}`,
    'Use tensorflow or tensorflow-cpu for Linux from PyPI, or libtensorflow from tensorflow.org.',
  );
}

/** The name of a source in messages and in the manifest. */
export function sourceName(source: TensorflowSource): string {
  switch (source.kind) {
    case 'file':
      return source.path;
    case 'url':
      return source.url;
    case 'pip':
      return `pip ${source.requirement}`;
  }
}
