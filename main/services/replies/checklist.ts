/** The checklist before the long runs: what the program can check, and what the user has to confirm. */
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { BraidError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { replyTask } from '../../tasks/reply/task.ts';
import { counted } from '../../text/format.ts';
import type { RecordFacts } from '../datasets/record-facts.ts';
import { isBundled } from '../models/resolve.ts';
import { replyRuns } from '../recipes/reply-presets.ts';
import { findCheckpoint, requireRun } from '../runs/runs.ts';
import {
  attempt,
  type ChecklistItem,
  diskItem,
  done,
  failed,
  fileItem,
  memoryItem,
  modelItem,
  open,
  overlapItem,
  rewardItem,
  trialItem,
} from '../training/checklist-items.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { type ReplyHost, replyData } from './data.ts';
import { expectedItem } from './expected.ts';
import { phaseFiles, plannedConfig, reinforcementStart } from './methods.ts';
import { trainedModel } from './start-points.ts';
import { type ReplyState, readReplyState, remember } from './stored-state.ts';

/** Items that the user confirms. */
const tickNames = ['generations_read', 'tracking', 'commitment'] as const;
export type TickName = (typeof tickNames)[number];

export type ReplyCheckName =
  | ('records' | 'held_out' | 'split' | 'phases_disjoint' | 'held_out_disjoint' | 'quartiles')
  | ('model' | 'configurations' | 'reward' | 'warm_start' | 'memory' | 'disk' | 'machine' | 'time')
  | 'small_scale_test';

export interface ReplyChecklist {
  readonly items: readonly ChecklistItem<ReplyCheckName>[];
  readonly ticks: readonly { readonly name: TickName; readonly ticked: boolean }[];
  /** Nothing failed, nothing is open, everything is confirmed. */
  readonly ready: boolean;
}

type Part = Pick<ReplyHost, 'store' | 'workspace' | 'paths' | 'live' | 'library'>;

/** Evaluates the checklist; the text worker reads the files. */
export async function replyChecklist(app: Part, seed: number): Promise<ReplyChecklist> {
  const memory = readReplyState(app.store);
  const { train, test } = replyData(app);
  const start = attempt('warm_start', '', () => reinforcementStart(app, seed));
  const earlier = start.state === 'done' ? trainingRecords(app.store, start.detail) : [];
  const files = [train, test, ...phaseFiles(app.workspace), ...earlier];
  const facts = await app.library.workers.run('recordFacts', { task: 'reply', files });
  const model = trainedModel(app);
  const items: ChecklistItem<ReplyCheckName>[] = [
    fileItem('records', basename(train), facts.files[0], 'Import them again, or use the bundled sample.'),
    fileItem('held_out', basename(test), facts.files[1], 'Import the records again.'),
    ...splitItems(memory, facts),
    {
      ...modelItem(app.store, { model, from_checkpoint: null }, app.paths),
      ...(isBundled(model, app.paths) && { detail: `${model}, bundled with Braid` }),
    },
    ...runItems(
      app,
      seed,
      start,
      earlier.map((_, i) => sharedBetween(facts, 1, files.length - earlier.length + i)),
    ),
    diskItem(app.store.folder),
    machineItem(app),
    trialItem(app.store, model),
    expectedItem(app, memory),
  ];
  const ticks = tickNames.map((name) => ({ name, ticked: isTicked(memory, name) }));
  return { items, ticks, ready: items.every(({ state }) => state === 'done') && ticks.every(({ ticked }) => ticked) };
}

/** Records that the user confirmed an item, or withdrew it. */
export function tick(
  { store, changes }: Pick<OpenWorkspace, 'store' | 'changes'>,
  name: TickName,
  ticked: boolean,
): void {
  const { [name]: _, ...others } = readReplyState(store).ticks;
  remember(store, { ticks: ticked ? { ...others, [name]: store.now() } : others });
  changes.publish('replies');
}

/** Replies of a newer test have not been read. */
function isTicked({ ticks, trial }: ReplyState, name: TickName): boolean {
  const at = ticks[name];
  return at !== undefined && (name !== 'generations_read' || (trial !== null && at >= trial.at));
}

/** Records of the second file whose post the first one has too. */
function sharedBetween({ shared }: RecordFacts, first: number, second: number): number {
  return shared.find((pair) => pair.first === first && pair.second === second)?.records ?? 0;
}

/** What a checkpoint and those before it were trained on, as far as it is still here. */
function trainingRecords(store: Store, checkpoint: string): readonly string[] {
  const runId = findCheckpoint(store, checkpoint)?.runId;
  if (runId === undefined) return [];
  const runs = [...store.runs.ancestors(runId), requireRun(store, runId)];
  return [...new Set(runs.map(({ dataset }) => dataset))].filter((file) => existsSync(file));
}

function splitItems({ split }: ReplyState, facts: RecordFacts): ChecklistItem<ReplyCheckName>[] {
  const [, , sft, grpo] = facts.files;
  const next = 'Split the records for two phases.';
  if (split === null) return [failed('split', 'not split yet', next)];
  for (const phase of [sft, grpo]) if (phase?.kind !== 'good') return [failed('split', phase?.reason ?? '', next)];
  const between = (first: number, second: number): number => sharedBetween(facts, first, second);
  const { ratio, seed, after, checks } = split;
  const sizes = `${after.sft.records} records for phase 1, ${after.grpo.records} for phase 2`;
  return [
    done('split', `${sizes}, ratio ${ratio}, seed ${seed}`),
    overlapItem('phases_disjoint', between(2, 3), 'no post is in both phases'),
    overlapItem('held_out_disjoint', between(1, 2) + between(1, 3), 'no held-out post is in the training data'),
    ...checks.flatMap((check) => (check.name === 'quartile_shares' ? [quartiles(check)] : [])),
  ];
}

function quartiles({ ok, detail }: { readonly ok: boolean; readonly detail: string }): ChecklistItem<'quartiles'> {
  const next = 'Split again with another seed, or a ratio nearer to 0.5.';
  return { name: 'quartiles', state: ok ? 'done' : 'open', detail, next: ok ? null : next };
}

/** An earlier baseline may have learned from what is held out now. */
function warmItem(start: ChecklistItem<'warm_start'>, heldOut: number): ChecklistItem<'warm_start'> {
  if (start.state !== 'done') return { ...start, state: 'open', next: 'Start the baseline, or choose a checkpoint.' };
  const name = `${basename(dirname(start.detail))}/${basename(start.detail)}`;
  if (heldOut === 0) return { ...start, detail: name };
  const detail = `${name} was trained on held-out posts: ${counted(heldOut, 'record')}`;
  return failed('warm_start', detail, 'Start the baseline on these records, or choose another checkpoint.');
}

/** What GRPO itself needs: its configuration, reward, starting point, memory. */
function runItems(
  app: Part,
  seed: number,
  start: ChecklistItem<'warm_start'>,
  heldOut: readonly number[],
): ChecklistItem<ReplyCheckName>[] {
  const warm = warmItem(start, Math.max(0, ...heldOut));
  try {
    const [config] = replyRuns.map((name) => plannedConfig(app, name, seed, null)).slice(-1);
    if (config === undefined) return [warm];
    const parts = replyTask.rewardNames.length;
    return [
      done('configurations', `${replyRuns.length} presets, ${parts} reward components`),
      rewardItem(config, replyTask),
      warm,
      memoryItem(app.store, start.state === 'done' ? { ...config, from_checkpoint: start.detail } : config, app.paths),
    ];
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    const next = error.remedy ?? 'Choose another model.';
    return [failed('configurations', error.message, next), warm];
  }
}

function machineItem({ live }: Pick<ReplyHost, 'live'>): ChecklistItem<'machine'> {
  const names = live.list().map(({ name }) => name);
  if (names.length === 0) return done('machine', 'nothing else is training');
  const next = 'Wait for it to finish, or stop it: two runs share processors and memory.';
  return open('machine', `training: ${names.join(', ')}`, next);
}
