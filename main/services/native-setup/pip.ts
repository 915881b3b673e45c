/** Wheels by pip, which knows the person's index, proxy and certificates. Nothing is installed. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError } from '../../errors.ts';
import { runTool } from './run-tool.ts';

/** Wheels hold the same C library for every Python: any one version will do, whatever this machine runs. */
const PYTHON = '3.11';
const GLIBC = ['2_28', '2_27', '2_17'] as const;
const REMEDY = 'Install pip (python3 -m pip), or download the wheel elsewhere and give it with --from FILE.';

/** Downloads one wheel without its dependencies into `folder` and returns its path. */
export async function pipDownload(requirement: string, folder: string, signal?: AbortSignal): Promise<string> {
  const arch = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const platforms = [...GLIBC.map((glibc) => `manylinux_${glibc}_${arch}`), `manylinux2014_${arch}`];
  const args = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--dest', folder];
  const target = ['--only-binary=:all:', '--implementation', 'cp', '--python-version', PYTHON];
  const before = new Set(readdirSync(folder));
  const all = [...args, ...target, ...platforms.flatMap((platform) => ['--platform', platform]), requirement];
  await runTool('python3', all, { signal, remedy: REMEDY });
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl') && !before.has(name));
  if (wheel === undefined)
    throw new BraidError('TOOL_FAILED', `pip: expected a wheel of ${requirement}, it brought none`, { remedy: REMEDY });
  return join(folder, wheel);
}

/** What a wheel's METADATA asks for under TensorFlow's extra "and-cuda": NVIDIA's libraries as wheels. */
export function cudaWheels(metadata: string): readonly string[] {
  return metadata.split(/\r?\n/).flatMap((line) => {
    const [, requirement] = /^Requires-Dist:\s*(nvidia-[^;]+?)\s*;.*extra\s*==\s*["']and-cuda["']/.exec(line) ?? [];
    return requirement === undefined ? [] : [requirement.replace(/[()\s]/g, '')];
  });
}
