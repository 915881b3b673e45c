import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Tests that open a tensor backend, and leave it as they found it. They share processes, too. */
const backends = 'faults|model|parity|rewards|tensor';
const backendsOfTrainer = 'backend|jobs|local|loops|losses|memory|optim|run|stage|tinker';

/** Files of those folders that open no backend. */
const quiet = [
  'tests/model/{chat-*,checksums,config,gguf*,mixers,modelfile,normalizers,pack,pre-tokenizers,quantised}.test.ts',
  'tests/model/{rope-tables,safetensors,sampler,stop-strings,text-flow,tokenizer*}.test.ts',
  'tests/model/{encoder/config,tool-calls/read}.test.ts',
  'tests/parity/{advantages,alignment,conversations,gguf,jinja,quantised,tensorboard,text-metrics,tokenizer}.test.ts',
  'tests/rewards/{command,endpoint,judge*}.test.ts',
  'tests/rewards/{openenv,tools}/*.test.ts',
  'tests/trainer/jobs/{bench*,generate-text,gguf-answers,gpu-report,queued-time,roofline}.test.ts',
  'tests/trainer/losses/{adaptive-entropy,losses}.test.ts',
  'tests/trainer/memory/{activations,failure,plan,stored-bytes,within-memory}.test.ts',
  'tests/trainer/{optim/schedule,stage/writable,tinker/packing,tinker/parts}.test.ts',
];

/** These and all others share a process, which imports the app once: a process of its own costs a file a second. */
const together = [
  ...quiet,
  'tests/*.test.ts',
  `tests/!(${backends}|trainer)/**/*.test.ts`,
  `tests/trainer/!(${backendsOfTrainer})/**/*.test.ts`,
];

/** What stands in for a module of the app does so for the whole process; what counts memory needs a process of its own. */
const apart = [
  'tests/commands/train-seeds-stop.test.ts',
  'tests/desktop/sandbox.test.ts',
  'tests/faults/full-disk.test.ts',
  'tests/trainer/backend/{open-backend-gpu,open-backend-rule}.test.ts',
  'tests/trainer/{local/estimate-rollouts,memory/device,run/open-engine}.test.ts',
];

/**
 * Campaigns of many seconds each, for `npm run test:long`: kills and broken disks, screens and stories by clicks but for
 * Home, commands and services that start many trainers, recipes from end to end, exhaustive shapes, and the
 * GPU's kernels on a software adapter. CI runs them beside the others.
 */
const longTogether = [
  'tests/campaign/**/*.test.ts',
  'tests/commands/{bench,engine,evaluate,merge,replies,sweep,task,train-seeds}.test.ts',
  'tests/e2e/!(home).test.ts',
  'tests/scripts/package.test.ts',
  'tests/services/recipes/*.test.ts',
  'tests/services/{queue/queue,servers/command,sweeps/sweep-runs}.test.ts',
  'tests/services/training/{external-rewards,live-runs,preflight,training}.test.ts',
];
/** These open backends. Files of a process share what was compiled for a software adapter. */
const longBackends = [
  'tests/model/{generate,gradients,turns}.test.ts',
  'tests/parity/{families,grpo-steps,precision}.test.ts',
  'tests/tensor/ops/*.test.ts',
  'tests/tensor/webgpu/!(gpu|plain-ops).test.ts',
  'tests/trainer/local/micro-batch-loss.test.ts',
];
/** These count what a process holds or what is registered in it, fill it, or stand in for a module. */
const longApart = [
  'tests/commands/{bench,train}-webgpu.test.ts',
  'tests/faults/{checkpoints,full-disk-host,killed,out-of-memory}.test.ts',
  'tests/tasks/sandbox/thousand.test.ts',
  'tests/tensor/native/sanitizers.test.ts',
  'tests/tensor/wasm/{gemm,pool}.test.ts',
  'tests/tensor/webgpu/{gpu,plain-ops}.test.ts',
  'tests/trainer/run/{environment-runs,folder-task-runs,no-leak,webgpu-faults,webgpu-run}.test.ts',
];
const long = [...longTogether, ...longBackends, ...longApart];

/** The processes that tests start take compiled code from here: without it, half of a test's time is compiling. */
const compileCache = join(import.meta.dirname, 'node_modules/.cache/braid-tests');

/** Tests compare paths: macOS's temporary folder lies behind a link, that of Windows may have a short name. */
const temporary = realpathSync.native(tmpdir());

/** Windows has no signals to stop or freeze a process with, as these tests do. */
const posixOnly = [
  'tests/desktop/runs.test.ts',
  'tests/faults/{full-disk,full-disk-host,killed,out-of-memory}.test.ts',
  'tests/commands/{serve,train,trial}.test.ts',
  'tests/services/curriculum/queue.test.ts',
  'tests/services/training/{live-runs,training}.test.ts',
  'tests/services/workspace/lock.test.ts',
];
const elsewhere = process.platform === 'win32' ? posixOnly : [];

const shared = {
  pool: 'forks' as const,
  testTimeout: 120_000,
  // An app that closes saves its runs first.
  hookTimeout: 60_000,
  // A page on a busy machine takes longer than vitest's one second.
  expect: { poll: { timeout: 45_000 } },
  globalSetup: ['tests/no-user-set-up.ts', 'tests/processes/build.ts'],
  setupFiles: 'tests/each-file.ts',
  env: { NODE_COMPILE_CACHE: compileCache, TMPDIR: temporary, TEMP: temporary, TMP: temporary },
};

export default defineConfig({
  test: {
    // For the two cores of a small machine: pages and processes are waited for half of the time, and four leave a sixth idle.
    maxWorkers: 5,
    projects: [
      {
        test: {
          ...shared,
          name: 'together',
          isolate: false,
          include: together,
          exclude: [...apart, ...long, ...elsewhere],
        },
      },
      {
        test: {
          ...shared,
          name: 'backends',
          isolate: false,
          include: [`tests/@(${backends})/**/*.test.ts`, `tests/trainer/@(${backendsOfTrainer})/**/*.test.ts`],
          exclude: [...quiet, ...apart, ...long, ...elsewhere],
        },
      },
      { test: { ...shared, name: 'apart', include: apart, exclude: [...long, ...elsewhere] } },
      { test: { ...shared, name: 'long', isolate: false, include: longTogether, exclude: elsewhere } },
      { test: { ...shared, name: 'long-backends', isolate: false, include: longBackends, exclude: elsewhere } },
      { test: { ...shared, name: 'long-apart', include: longApart, exclude: elsewhere } },
    ],
  },
});
