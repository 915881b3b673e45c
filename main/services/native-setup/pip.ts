/** Downloads wheels with pip, which knows the user's index, proxy and certificates. Nothing is installed. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError } from '../../errors.ts';
import { runTool } from './run-tool.ts';

/** Wheels contain the same C library for every Python version, so any will do. */
const PYTHON = '3.11';
const GLIBC = ['2_28', '2_27', '2_17'] as const;
const REMEDY = 'Install pip (python3 -m pip), or download the wheel elsewhere and choose that file as the source.';

/** Downloads one wheel without its dependencies into `folder` and returns its path. */
export async function pipDownload(requirement: string, folder: string, signal?: AbortSignal): Promise<string> {
  const arch = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const platforms = [...GLIBC.map((glibc) => `manylinux_${glibc}_${arch}`), `manylinux2014_${arch}`];
  const args = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--dest', folder];
  const target = ['--only-binary=:all:', '--implementation', 'cp', '--python-version', PYTHON];
  const before = new Set(readdirSync(folder));
  const all = [...args, ...target, ...platforms.flatMap((platform) => ['--platform', platform]), requirement];
  // In the current folder Python would take a pip.py of somebody else for pip.
  await runTool('python3', all, { cwd: folder, signal, remedy: REMEDY });
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl') && !before.has(name));
  if (wheel === undefined)
    throw new BraidError('TOOL_FAILED', `pip didn't download a wheel for ${requirement}`, { remedy: REMEDY });
  return join(folder, wheel);
}

/** The requirements of TensorFlow's extra "and-cuda" in a wheel's METADATA: NVIDIA's libraries as wheels. */
export function cudaWheels(metadata: string): readonly string[] {
  return metadata.split(/\r?\n/).flatMap((line) => {
    const [, requirement] = /^Requires-Dist:\s*(nvidia-[^;]+?)\s*;.*extra\s*==\s*["']and-cuda["']/.exec(line) ?? [];
    return requirement === undefined ? [] : [requirement.replace(/[()\s]/g, '')];
  });
}
