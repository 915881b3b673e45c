/**
 * Where the native backend lies: outside the program, because it is hundreds of megabytes that fit one machine, and
 * because a packaged app's archive can neither be written nor loaded from.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import envPaths from 'env-paths';
import { z } from 'zod';

/** What a set-up left, and how it came about. */
const manifestSchema = z.object({
  version: z.literal(1),
  /** The TensorFlow version that the library itself reports. */
  tensorflow: z.string(),
  /** File, URL or package that the library came from. */
  source: z.string(),
  /** Version of @tensorflow/tfjs-node-gpu. */
  addon: z.string(),
  /** Whether the library was built for CUDA. */
  cuda: z.boolean(),
});

export type NativeManifest = z.infer<typeof manifestSchema>;

/** A staged native backend: the package's JavaScript, TensorFlow's libraries, and the addon built against them. */
export interface NativeLayout {
  readonly root: string;
  readonly manifest: string;
  /** Folder of @tensorflow/tfjs-node-gpu. */
  readonly package: string;
  /** Folder of libtensorflow_cc.so.2 or libtensorflow.so.2, and its framework. */
  readonly libraries: string;
  readonly addon: string;
}

/** Where set-ups are kept: BRAID_NATIVE, else a folder of the user's data. */
export function nativeFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return resolve(env.BRAID_NATIVE?.trim() || join(envPaths('braid', { suffix: '' }).data, 'native'));
}

/** The parts of a set-up. */
export function nativeLayout(root: string): NativeLayout {
  return {
    root,
    manifest: join(root, 'manifest.json'),
    package: join(root, 'package'),
    libraries: join(root, 'tensorflow'),
    addon: join(root, 'tfjs_binding.node'),
  };
}

/** The set-up in use, inside the folder that keeps them. */
export function currentLayout(folder: string = nativeFolder()): NativeLayout {
  return nativeLayout(join(folder, 'current'));
}

/** What a set-up says of itself; null where there is none that this version of Braid can read. */
export function readManifest({ manifest }: Pick<NativeLayout, 'manifest'>): NativeManifest | null {
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(manifest, 'utf8')));
  } catch {
    // Missing, cut short or of another version: all mean that a set-up has to be run.
    return null;
  }
}
