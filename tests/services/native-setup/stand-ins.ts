/** What a set-up fetches, in kilobytes: files with the right names and heads, and nothing in them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeZip } from '../../../main/io/make-zip.ts';
import { PACKAGE_VERSION } from '../../../main/services/native-setup/package.ts';

/** The package as npm gives it: the files that a set-up looks for. */
export function packageTarball(folder: string, version = PACKAGE_VERSION): string {
  const at = mkdtempSync(join(folder, 'package-'));
  const root = join(at, 'package');
  mkdirSync(join(root, 'dist'), { recursive: true });
  mkdirSync(join(root, 'binding'));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: '@tensorflow/tfjs-node-gpu', version }));
  writeFileSync(join(root, 'dist/nodejs_kernel_backend.js'), '');
  writeFileSync(join(root, 'binding/tfjs_binding.cc'), '');
  execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: at });
  return join(at, 'package.tgz');
}

export interface Member {
  readonly name: string;
  readonly content: string | Buffer;
}

export function wheel(folder: string, name: string, members: readonly Member[]): string {
  const file = join(folder, name);
  writeFileSync(file, makeZip(members));
  return file;
}

/** In a shared object's head: 62 is x86-64, 183 64-bit ARM, 40 32-bit ARM. */
const HERE = process.arch === 'x64' ? 62 : 183;

/** TensorFlow's libraries in a wheel, for this machine or another. */
export function libraries(machine = HERE): Member[] {
  return ['tensorflow/libtensorflow_cc.so.2', 'tensorflow/libtensorflow_framework.so.2'].map((name) => ({
    name,
    content: sharedObject(machine),
  }));
}

function sharedObject(machine: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('\u007fELF', 'latin1');
  bytes.writeUInt16LE(machine, 18);
  return bytes;
}
