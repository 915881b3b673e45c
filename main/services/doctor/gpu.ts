/** GPU, driver, CUDA's libraries and the native backend. None of them is needed by the embedded default. */
import { BraidError } from '../../errors.ts';
import { currentLayout, type NativeManifest, readManifest } from '../../native/folder.ts';
import { canProbe, type ProbeResult, probeAddon } from '../../native/probe.ts';
import { problemSentence } from '../../native/problems.ts';
import { type Finding, findings } from '../native-setup/findings.ts';
import { type GpuFacts, readGpuFacts } from '../native-setup/machine.ts';
import { gpuIsUsable } from '../native-setup/source.ts';
import type { HostPaths } from '../paths.ts';
import { type JobOptions, runTrainerJob } from '../trainer-job.ts';
import { type Check, ok, warn } from './check.ts';

const SET_UP = 'Run npm run setup:native.';
/** The version that a set-up would take where none is there. */
const NEXT_VERSION = '2.21.0';

const NEXT: Readonly<Record<Finding['what'], string>> = {
  GPU: "Install NVIDIA's driver for it, or restart after a driver update.",
  driver: "Install a newer driver from NVIDIA or the system's packages; training works without it, on the processor.",
  CUDA: 'Install them, or let npm run setup:native fetch them with pip; training works without them, on the processor.',
};

/** Examines this machine and tries the set-up, if there is one. */
export async function checkGpu(paths: Pick<HostPaths, 'kernels' | 'trainer'>, job: JobOptions = {}): Promise<Check[]> {
  const layout = currentLayout();
  const manifest = readManifest(layout);
  const facts = readGpuFacts([layout.libraries]);
  if (manifest === null) return gpuChecks(facts, null, null);
  return gpuChecks(
    facts,
    manifest,
    canProbe() ? await probeAddon(layout.addon) : await tryInTrainer(paths, manifest, job),
  );
}

/** Where nothing can be tried in a process of its own, a trainer is one. */
async function tryInTrainer(
  { kernels, trainer }: Pick<HostPaths, 'kernels' | 'trainer'>,
  { tensorflow }: NativeManifest,
  options: JobOptions,
): Promise<ProbeResult> {
  const job = { kind: 'self-check', backend: 'native', threads: 0, kernelsFile: kernels } as const;
  try {
    const { why } = await runTrainerJob(job, trainer, options);
    return { ok: true, facts: { tensorflow, gpu: why.includes('on the GPU'), notes: [] } };
  } catch (error) {
    if (error instanceof BraidError && error.code === 'INTERRUPTED') throw error;
    return { ok: false, problem: { kind: 'crashed', detail: (error as Error).message } };
  }
}

/** The lines for what was found; `probe` is null without a set-up. */
export function gpuChecks(facts: GpuFacts, manifest: NativeManifest | null, probe: ProbeResult | null): Check[] {
  const version = manifest?.tensorflow ?? NEXT_VERSION;
  const lines = findings(facts, version).map(({ what, missing, detail }) => {
    const name = what === 'GPU' ? 'GPU' : what === 'driver' ? 'GPU driver' : 'CUDA libraries';
    return missing ? warn(name, detail, NEXT[what]) : ok(name, detail);
  });
  return [...lines, nativeCheck(facts, manifest, probe)];
}

function nativeCheck(facts: GpuFacts, manifest: NativeManifest | null, probe: ProbeResult | null): Check {
  const name = 'Native backend';
  const wanted = gpuIsUsable(facts, manifest?.tensorflow ?? NEXT_VERSION);
  if (manifest === null || probe === null) {
    if (wanted) return warn(name, 'not set up, so the GPU is not used', SET_UP);
    return ok(name, 'not set up; not needed without an NVIDIA GPU');
  }
  const what = `TensorFlow ${manifest.tensorflow}`;
  if (!probe.ok)
    return warn(name, `${what}: ${problemSentence(probe.problem)}`, `${SET_UP} The wasm backend works without it.`);
  if (probe.facts.gpu) return ok(name, `${what} on the GPU`);
  if (!wanted) return ok(name, `${what} on the processor`);
  if (!manifest.cuda) return warn(name, `${what} works, but it was built without CUDA, so the GPU is not used`, SET_UP);
  const said = probe.facts.notes.length === 0 ? '' : `: ${probe.facts.notes.join(' ')}`;
  return warn(name, `${what} works, but finds no GPU${said}`, NEXT.CUDA);
}
