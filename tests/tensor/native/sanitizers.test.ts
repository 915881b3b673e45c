/**
 * The addon's kernels under AddressSanitizer and UndefinedBehaviorSanitizer, with random shapes (addon/fuzz.cc). They need
 * a C++ compiler and no TensorFlow. Compiling takes long, by half with optimisation: only where the native backend is tested.
 */
import { execFile, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { nativeUnderTest } from '../../native-under-test.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';

const run = promisify(execFile);
const addon = join(import.meta.dirname, '../../../main/tensor/native/addon');
const folder = temporaryFolderOfFile();

const installed = (compiler: string): boolean => spawnSync(compiler, ['--version']).status === 0;
/** One of them: each takes a minute, and what they find is the code's, not the compiler's. */
const compiler = nativeUnderTest === null ? undefined : ['clang++', 'g++'].find(installed);

describe.runIf(compiler !== undefined)('the kernels with random shapes', () => {
  it(`read and write nothing but their tensors (${compiler})`, { timeout: 600_000 }, async () => {
    // addon.cc is what Node and TensorFlow see of them.
    const kernels = readdirSync(addon).filter((name) => name.endsWith('.cc') && name !== 'addon.cc');
    const program = join(folder, 'fuzz');
    await run(compiler ?? '', [
      ...['-std=c++17', '-O0', '-g1', '-pthread', '-march=native', '-fno-math-errno', '-fno-trapping-math'],
      ...['-fsanitize=address,undefined', '-fno-sanitize-recover=all', `-I${addon}`],
      ...[join(import.meta.dirname, 'addon/fuzz.cc'), ...kernels.map((name) => join(addon, name)), '-o', program],
    ]);
    const seed = String(Math.floor(Math.random() * 1e6));
    // What failed says the seed, which repeats it.
    const { stdout } = await run(program, [seed, '300']).catch((error: { stderr?: string }) => {
      throw new Error(`seed ${seed}: ${error.stderr ?? error}`);
    });
    expect(stdout).toContain(`seed ${seed}: 300 products, 300 calls that fit, 300 spoilt ones`);
  });
});
