/**
 * Entry of the thread that computes components outside the sandbox, all of them at the same time, batch by batch; or that
 * plays an environment or calls tools.
 */
import { workerData } from 'node:worker_threads';
import { BraidError } from '../errors.ts';
import { onPulse } from '../pulse.ts';
import type {
  ComponentScores,
  ExternalProgram,
  ExternalReply,
  ExternalRequest,
  ExternalWorkerData,
} from '../tasks/external/messages.ts';
import { checkedAddress, type ExternalSpec } from '../tasks/external/spec.ts';
import type { ToolsWorkerData } from '../tasks/external/tool-messages.ts';
import type { ServedWorkerData } from '../tasks/openenv/messages.ts';
import { type ReplyLine, replyPoster } from '../tasks/sync-thread.ts';
import type { Answer } from '../tasks/task.ts';
import { openCommand } from './command.ts';
import type { Component, ComponentBatch } from './component.ts';
import { openEndpoint } from './endpoint.ts';
import { openJudge } from './judge.ts';
import { openJudgeCache } from './judge-cache.ts';
import { serveEnvironment } from './openenv/serve.ts';
import { serveTools } from './tools/serve.ts';

const { program, served, tools, ...line } = workerData as Partial<
  ExternalWorkerData & ServedWorkerData & ToolsWorkerData
> &
  ReplyLine;
const post = replyPoster<ExternalReply>(line);
const BEAT_MS = 1000;

setInterval(() => post({ kind: 'alive' }), BEAT_MS).unref();
/** A model computes synchronously: the timer above is silent meanwhile. */
let lastBeat = 0;
onPulse(() => {
  if (performance.now() - lastBeat < BEAT_MS) return;
  lastBeat = performance.now();
  post({ kind: 'alive' });
});

async function openComponent(name: string, spec: ExternalSpec, { files, access }: ExternalProgram): Promise<Component> {
  const keyOf = (address: string): string | null => access.keys[checkedAddress(address, true).origin] ?? null;
  switch (spec.kind) {
    case 'command':
      return openCommand(spec, files);
    case 'http':
      return openEndpoint(spec, keyOf(spec.http));
    case 'judge':
      return openJudge(spec, keyOf(spec.judge), openJudgeCache(access.cacheFolder));
    case 'classifier':
    case 'encoder': {
      // Loaded on demand: most rewards need no tensors.
      const { openRewardModel } = await import('./reward-model.ts');
      return openRewardModel(spec, access.models[name] ?? '', access.kernelsFile);
    }
  }
}

/** Sees a record as its file has it; a classifier of conversations reads the messages that are made of it. */
function seeing(component: Component, spec: ExternalSpec, { ownMessages }: ExternalProgram): Component {
  if (ownMessages || (spec.kind === 'classifier' && spec.input === undefined)) return component;
  const asInFile = ({ record: { messages: _, ...record }, ...answer }: Answer): Answer => ({ ...answer, record });
  return { score: (answers) => component.score(answers.map(asInFile)), close: () => component.close() };
}

async function scoreWith(component: Component, answers: readonly Answer[]): Promise<ComponentScores> {
  const began = performance.now();
  const batch = await component.score(answers).catch((error: unknown) => failed(error, answers.length));
  return { ...batch, seconds: (performance.now() - began) / 1000 };
}

/** A component that throws ended this thread unseen; as a failure of its batch, `reward_failure` decides about it. */
function failed(error: unknown, count: number): ComponentBatch {
  const reason = error instanceof Error ? error.message : String(error);
  return { outcomes: Array.from({ length: count }, () => reason), cost: null, cached: null };
}

async function serve(program: ExternalProgram): Promise<void> {
  const components = new Map<string, Component>();
  for (const [name, spec] of Object.entries(program.components))
    components.set(name, seeing(await openComponent(name, spec, program), spec, program));
  line.port.on('message', async (request: ExternalRequest) => {
    if (request.kind === 'close') {
      // Whatever becomes of one, the others end, and the host hears of it.
      await Promise.allSettled([...components.values()].map((component) => component.close()));
      return post({ kind: 'closed' });
    }
    const scored = await Promise.all(
      [...components].map(async ([name, component]) => [name, await scoreWith(component, request.answers)] as const),
    );
    post({ kind: 'scored', components: Object.fromEntries(scored) });
  });
  post({ kind: 'ready' });
}

try {
  if (program !== undefined) await serve(program);
  if (served !== undefined) serveEnvironment(served, line);
  if (tools !== undefined) serveTools(tools, line);
} catch (error) {
  if (!(error instanceof BraidError)) throw error;
  post({ kind: 'refused', code: error.code, reason: error.message, remedy: error.remedy ?? null });
}
