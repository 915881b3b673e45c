/** "Test": what an engine answers, by a trainer process that trains nothing of anyone's. */
import type { EngineTestResult } from '../../trainer/jobs/engine-test.ts';
import { runTrainerJob } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';
import type { Secrets } from '../workspace/secrets.ts';
import { type EngineAccess, whileInUse, withKey } from './engine-for.ts';
import type { EngineEntry } from './engines.ts';

/** Reaches the engine, samples a group, times a step; throws what is wrong. */
export async function testEngine(
  entry: EngineEntry,
  {
    secrets,
    paths,
    signal,
    ...access
  }: { secrets: Pick<Secrets, 'get'>; paths: HostPaths; signal?: AbortSignal } & Pick<EngineAccess, 'records'>,
): Promise<EngineTestResult> {
  const engine = withKey(entry, secrets);
  const job = { kind: 'engine-test', engine, backend: 'wasm', threads: 1, kernelsFile: paths.kernels } as const;
  const { value } = await whileInUse(entry, access, () =>
    runTrainerJob(job, paths.trainer, signal === undefined ? {} : { signal }),
  );
  return value;
}

/** The result as a page shows it. */
export interface EngineTest extends EngineTestResult {
  readonly words: string;
}

/** What the gradient test found, in a sentence. */
export function ruleWords({ rule, reportsNorm }: Pick<EngineTestResult, 'rule' | 'reportsNorm'>): string {
  if (!reportsNorm) return 'It reports no gradient norm, so it is taken to sum the loss, as the protocol says.';
  if (!rule.normalised && !rule.averaged) return 'It sums the loss, as the protocol says.';
  return 'It averages the loss; weights are scaled so that the gradient is the same.';
}
