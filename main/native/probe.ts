/**
 * Loads the addon in a process of its own and computes with it. A library of the wrong kind can end a process without
 * a word, so nobody loads it before this has gone well.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { startReason } from '../io/start-reason.ts';
import { explainProblem, type NativeProblem } from './problems.ts';

/** What an addon that works says. */
export interface NativeFacts {
  /** TensorFlow's version. */
  readonly tensorflow: string;
  /** Whether it found a GPU to compute on. */
  readonly gpu: boolean;
  /** Whether its products can be computed in bfloat16; absent: not tried. */
  readonly bfloat16?: boolean;
  /** The names of the kernels of ours that it has; absent: not tried. */
  readonly kernels?: readonly string[];
  /** What TensorFlow had to say about libraries and devices. */
  readonly notes: readonly string[];
}

export type ProbeResult =
  | { readonly ok: true; readonly facts: NativeFacts }
  | { readonly ok: false; readonly problem: NativeProblem };

const factsSchema = z.object({
  tensorflow: z.string(),
  gpu: z.boolean(),
  bfloat16: z.boolean(),
  kernels: z.array(z.string()),
  error: z.number(),
});

/** Longer than a GPU's first start takes. */
const TIMEOUT_MS = 60_000;

/** Sums of 64 products of numbers below 1 are off by far less; TF32 on a GPU and bfloat16 by nearly as much. */
const TOLERANCE = 0.05;

/** Plain JavaScript of the older kind, so that it needs no file: a bundled app has none to point to. */
const SCRIPT = `
const b = require(process.argv[1]);
const n = 64, x = Float32Array.from({ length: n * n }, (_, i) => Math.sin(i));
const id = b.createTensor([n, n], b.TF_FLOAT, x);
const flag = (name, value) => ({ name, type: b.TF_ATTR_BOOL, value });
const type = { name: 'T', type: b.TF_ATTR_TYPE, value: b.TF_FLOAT };
const out = b.executeOp('MatMul', [flag('transpose_a', false), flag('transpose_b', true), type], [id, id], 1)[0];
const products = [b.tensorDataSync(out.id)];
if (b.kernelArguments) {
  // Ours were compiled for the processor of the set-up: on an older one they end the process here.
  for (const bfloat16 of b.bfloat16 ? [0, 1] : [0]) {
    const out = b.allocateTensor([n, n], b.TF_FLOAT);
    const given = { a: id, b: id, out, lowA: -1, lowB: -1, transposeB: 1, alpha: 1, bfloat16 };
    const { tensors, numbers } = b.kernelArguments.product;
    b.runKernel('product', tensors.map((key) => given[key]), numbers.map((key) => given[key] ?? 0));
    products.push(b.tensorDataSync(out));
  }
}
let error = 0;
for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
  let sum = 0;
  for (let k = 0; k < n; k++) sum += x[i * n + k] * x[j * n + k];
  for (const product of products) error = Math.max(error, Math.abs(sum - product[i * n + j]));
}
process.stdout.write(JSON.stringify({
  tensorflow: String(b.TF_Version), gpu: b.isUsingGpuDevice(), bfloat16: b.bfloat16 === true,
  kernels: Object.keys(b.kernelArguments || {}), error,
}));
`;

/** Whether this program can start itself as plain Node; a packaged Electron app can't. */
export function canProbe(): boolean {
  return process.versions.electron === undefined;
}

/** Tries the addon at `addon`. Never rejects. */
export async function probeAddon(addon: string, timeoutMs = TIMEOUT_MS): Promise<ProbeResult> {
  if (!existsSync(addon)) return { ok: false, problem: { kind: 'not-built', detail: addon } };
  const { stdout, stderr, code, signal, timedOut } = await runScript(addon, timeoutMs);
  const answer = readAnswer(stdout);
  if (timedOut) return { ok: false, problem: { kind: 'no-answer', detail: `no answer within ${timeoutMs / 1000} s` } };
  if (answer === null) {
    const ended = signal === null ? `code ${code}` : signal;
    return { ok: false, problem: explainProblem(stderr, ended) };
  }
  const { error, ...facts } = answer;
  if (!(error < TOLERANCE)) {
    return { ok: false, problem: { kind: 'wrong-numbers', detail: `a 64 x 64 product is off by ${error}` } };
  }
  return { ok: true, facts: { ...facts, notes: notesOf(stderr) } };
}

function runScript(addon: string, timeoutMs: number) {
  // The library's messages are wanted here, unlike in a trainer.
  const env = { ...process.env, TF_CPP_MIN_LOG_LEVEL: '0', TF_FORCE_GPU_ALLOW_GROWTH: 'true' };
  const child = spawn(process.execPath, ['-e', SCRIPT, addon], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  // Without a free file descriptor a child has no pipes.
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.stderr = (said.stderr + text).slice(-100_000);
  });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  return new Promise<typeof said & { code: number | null; signal: string | null; timedOut: boolean }>((resolve) => {
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve({ stdout: '', stderr: startReason(error, process.execPath), code: null, signal: null, timedOut });
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ ...said, code, signal, timedOut });
    });
  });
}

function readAnswer(stdout: string): z.infer<typeof factsSchema> | null {
  try {
    return factsSchema.parse(JSON.parse(stdout));
  } catch {
    return null;
  }
}

/** Lines about libraries or devices; the rest is TensorFlow's usual log. */
function notesOf(stderr: string): string[] {
  return stderr
    .split('\n')
    .filter((line) => /cannot dlopen|could not load|cuda|cudnn|gpu/i.test(line))
    .map((line) => line.replace(/^.*\] /, '').trim())
    .slice(0, 12);
}
