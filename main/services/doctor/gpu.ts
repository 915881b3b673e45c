/** GPU, driver, CUDA's libraries and the native backend. The embedded backend needs none of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentLayout, type NativeManifest, nativeFolder, readManifest } from '../../native/folder.ts';
import type { NativeFacts, ProbeResult } from '../../native/probe.ts';
import { problemSentence } from '../../native/problems.ts';
import { type Finding, findings } from '../native-setup/findings.ts';
import { type GpuFacts, readGpuFacts } from '../native-setup/machine.ts';
import { gpuIsUsable, TENSORFLOW_VERSION } from '../native-setup/source.ts';
import { tryOutWith } from '../native-setup/try-out.ts';
import type { JobOptions } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type Check, ok, warn } from './check.ts';

const SET_UP = 'Set up the native backend in Settings.';
const SET_UP_AGAIN = 'Set it up again in Settings.';

const NEXT: Readonly<Record<Finding['what'], string>> = {
  GPU: "Install NVIDIA's driver for it, or restart after a driver update.",
  driver: "Install a newer driver from NVIDIA or the system's packages; without it, training runs on the CPU.",
  CUDA: 'Install them, or let the set-up download them with pip; without them, training runs on the CPU.',
};

/** Examines this machine and tries the set-up, if there is one. */
export async function checkGpu(
  paths: Pick<HostPaths, 'addon' | 'kernels' | 'trainer'>,
  job: JobOptions = {},
): Promise<Check[]> {
  const layout = currentLayout();
  const manifest = readManifest(layout);
  const facts = await readGpuFacts([layout.libraries]);
  if (manifest === null) return gpuChecks(facts, null, null);
  return gpuChecks(facts, manifest, await tryOutWith(paths, job)(nativeFolder()), kernelNames(paths.addon));
}

/** The kernels that a set-up of this version compiles. */
export function kernelNames(addon: string): readonly string[] {
  const list = readFileSync(join(addon, 'kernels.h'), 'utf8');
  return [...list.matchAll(/^ *KERNEL\((\w+),/gm)].map(([, name = '']) => name);
}

/** The report lines; `probe` is null without a set-up. `kernels`: what this version calls. */
export function gpuChecks(
  facts: GpuFacts,
  manifest: NativeManifest | null,
  probe: ProbeResult | null,
  kernels: readonly string[] = [],
): Check[] {
  const version = manifest?.tensorflow ?? TENSORFLOW_VERSION;
  const lines = findings(facts, version).map(({ what, missing, detail }) => {
    const name = what === 'GPU' ? 'GPU' : what === 'driver' ? 'GPU driver' : 'CUDA libraries';
    return missing ? warn(name, detail, NEXT[what]) : ok(name, detail);
  });
  return [...lines, nativeCheck(facts, manifest, probe, kernels)];
}

function nativeCheck(
  facts: GpuFacts,
  manifest: NativeManifest | null,
  probe: ProbeResult | null,
  kernels: readonly string[],
): Check {
  const name = 'Native backend';
  const wanted = gpuIsUsable(facts, manifest?.tensorflow ?? TENSORFLOW_VERSION);
  if (manifest === null || probe === null) {
    if (wanted) return warn(name, 'not set up, so the GPU is not used', SET_UP);
    return ok(name, 'not set up; not needed without an NVIDIA GPU');
  }
  const what = `TensorFlow ${manifest.tensorflow}`;
  if (!probe.ok)
    return warn(name, `${what}: ${problemSentence(probe.problem)}`, `${SET_UP} The wasm backend works without it.`);
  if (probe.facts.gpu) return ok(name, `${what} on the GPU`);
  const { kernels: found } = probe.facts;
  if (found !== undefined && kernels.some((kernel) => !found.includes(kernel)))
    return warn(
      name,
      `${what} works, but is of an earlier version of Braid, so runs on the CPU use wasm`,
      SET_UP_AGAIN,
    );
  if (!wanted) return ok(name, `${what} on the CPU${bfloat16Note(probe.facts)}`);
  if (!manifest.cuda) return warn(name, `${what} works, but it was built without CUDA, so the GPU is not used`, SET_UP);
  const said = probe.facts.notes.length === 0 ? '' : `: ${probe.facts.notes.join(' ')}`;
  return warn(name, `${what} works, but doesn't find a GPU${said}`, NEXT.CUDA);
}

/** Whether compute_dtype bfloat16 can be had; nothing where that wasn't tried. */
function bfloat16Note({ bfloat16 }: NativeFacts): string {
  if (bfloat16 === undefined) return '';
  return bfloat16 ? ', with bfloat16' : ', in float32 only: it has no bfloat16';
}
