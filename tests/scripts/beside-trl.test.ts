import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { besideTrl } from '../../scripts/gpu-report/beside-trl.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A Python that says this of CUDA. */
function python(program: string): string {
  const file = join(temporaryFolder(), 'python');
  writeFileSync(file, `#!/bin/sh\n${program}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe.skipIf(process.platform === 'win32')('besideTrl', () => {
  it('says why TRL was not timed where there is no CUDA, no torch or no Python', () => {
    expect(besideTrl(python('echo False'))).toEqual([expect.stringMatching(/not timed: torch of .* has no CUDA/)]);
    expect(besideTrl(python('echo "ModuleNotFoundError: No module named \'torch\'" >&2; exit 1'))).toEqual([
      expect.stringContaining("No module named 'torch'"),
    ]);
    expect(besideTrl('/nowhere/python')).toEqual([expect.stringContaining('ENOENT')]);
  });

  it('asks for a device that trl_peer.py knows', () => {
    const peer = readFileSync(join(import.meta.dirname, '../../scripts/bench/trl_peer.py'), 'utf8');
    expect(peer).toContain('options.add_argument("--device", choices=["cpu", "cuda"], default="cpu")');
    expect(peer).toContain('use_cpu=asked.device == "cpu"');
  });
});
