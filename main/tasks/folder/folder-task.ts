/**
 * A task of a folder behind the interface of all tasks: components of reward.ts are computed in the sandbox, on a thread
 * of its own, and the others (commands, servers, judges, models) on another one at the same time.
 */
import { withoutOutcomes } from '../../samples/chat-message.ts';
import { reaches } from '../../text/intervals.ts';
import type { ExternalAccess } from '../external/access.ts';
import type { ComponentScores } from '../external/messages.ts';
import { notAllowed, openExternalScorer } from '../external/scorer.ts';
import { openToolCaller } from '../external/tool-caller.ts';
import { toolSpec } from '../external/tool-spec.ts';
import { openUseMeter } from '../external/use-meter.ts';
import { openServedEnvironment } from '../openenv/environment.ts';
import { openScorer, type RewardThreads, type Scored, type Scorer } from '../sandbox/scorer.ts';
import {
  type Answer,
  type Environment,
  type Score,
  type Task,
  type TaskFacts,
  type TaskMetrics,
  totalReward,
} from '../task.ts';
import { conversationField, parseDefinition, TASK_FILE, type TaskDefinition } from './definition.ts';
import { openEnvironment, replay } from './environment.ts';
import type { EnvironmentDefinition } from './environment-definition.ts';
import { type FolderRecord, ownAnswer, parseFolderRecord, promptOf, quotedFields, toolsOf } from './record.ts';
import { type FolderSource, ownComponents, sandboxComponents } from './source.ts';
import { fillIn, withoutEnd } from './template.ts';
import { chatTools, openTools, TOOLS_FILE, toolProgram, turnsOf } from './tools.ts';

/** The metric that evaluations of such tasks are compared by: the weighted sum of the components. */
export const FOLDER_METRIC = 'reward';

/** What task.yaml says of a task. */
export function folderFacts({ name, folder, definition }: Omit<FolderSource, 'reward'>): TaskFacts {
  return factsOf(name, parseDefinition(fileIn(folder), definition));
}

/**
 * Opens a task; errors of task.yaml are thrown here, those of reward.ts by the first batch. `threads`: sandbox/worker.ts.
 * `access`: what the user has agreed to; without it, components outside the sandbox are refused when they are needed.
 */
export function openFolderTask(
  source: FolderSource,
  threads: RewardThreads,
  access: ExternalAccess | null = null,
): Task<FolderRecord> {
  const definition = parseDefinition(fileIn(source.folder), source.definition);
  const facts = factsOf(source.name, definition);
  const limits = { timeMs: definition.time_limit_ms, memoryMb: definition.memory_limit_mb };
  const own = ownComponents(definition);
  const server = definition.environment?.server ?? null;
  const hasStep = definition.environment !== undefined && server === null;
  const components = sandboxComponents(definition);
  const program = { text: source.reward, components, hasCheck: definition.check !== undefined, hasStep, limits };
  const scorer = openScorer(program, threads);
  const tools = definition.tools && openToolThreads(definition, source, threads, access);
  const played = definition.environment && openPlayed(definition.environment, own, scorer, source, access);
  const environment = played ?? tools?.environment;
  const outside = openOutside(definition, source, access);
  const meter = openUseMeter();

  const asOthersSee = (answer: Answer): Answer => withPrompt(answer, promptOf(definition, answer));
  const asSandboxSees =
    conversationField(definition) === 'messages'
      ? asOthersSee
      : (answer: Answer): Answer => withoutMessages(asOthersSee(answer));
  const call = (name: 'reward' | 'check', answers: readonly Answer[], untilFailure = false) =>
    scorer.score(name, answers.map(asSandboxSees), untilFailure);
  const ownScores = (answers: readonly Answer[], untilFailure: boolean): readonly Scored[] =>
    played === undefined ? call('reward', answers, untilFailure) : replay(played, own, answers);

  const score = (answers: readonly Answer[], untilFailure = false): Score[] => {
    // Without completions it is loaded only, which reaches nothing outside.
    const others = answers.length === 0 ? null : outside;
    others?.begin(answers.map(asOthersSee));
    const began = performance.now();
    let scored: readonly Scored[] = [];
    let [seconds, components] = [0, {} as Readonly<Record<string, ComponentScores>>];
    try {
      if (own.length > 0) scored = ownScores(answers, untilFailure);
      seconds = (performance.now() - began) / 1000;
    } finally {
      // Whatever becomes of reward.ts, the other thread's batch is taken from it.
      components = others?.finish() ?? {};
    }
    if (others !== null) meter.add(answers.length, components, own.length === 0 || server !== null ? null : seconds);
    return answers.map(({ outcome }, i) => {
      // The reward isn't asked about a tool that didn't answer.
      const failed = outcome?.failure ?? null;
      return scoreOf(
        facts.rewardNames,
        own,
        failed === null ? scored[i] : { kind: 'failure', reason: failed },
        components,
        i,
      );
    });
  };

  const check = (answers: readonly Answer[]): number[] =>
    call('check', answers).map((scored) =>
      scored.kind === 'numbers' ? (scored.numbers[0] ?? Number.NaN) : Number.NaN,
    );

  const measure = (answers: readonly Answer[]): TaskMetrics[] => {
    const checks = definition.check === undefined ? [] : check(answers);
    return score(answers).map(({ components, failure }, i) => {
      const reward = totalReward(facts, components);
      return {
        [FOLDER_METRIC]: reward,
        ...(facts.rewardNames.length > 1 && components),
        success: reaches(reward, definition.success_threshold) ? 1 : 0,
        ...(definition.check !== undefined && { [definition.check]: checks[i] ?? Number.NaN }),
        failed: failure === null ? 0 : 1,
      };
    });
  };

  const task: Task<FolderRecord> = {
    ...facts,
    parseRecord: (value, line) => parseFolderRecord(definition, value, line),
    quoted: (record) => quotedFields(definition, record),
    ...toolsFor(definition),
    ...(conversationField(definition) !== undefined && { hasConversations: true }),
    target: (record) =>
      definition.target === undefined ? ownAnswer(definition, record) : fillIn(withoutEnd(definition.target), record),
    score,
    measure,
    ...(environment && { environment }),
    check: definition.check === undefined ? null : { name: definition.check, measure: check },
    fit: () => task,
    takeMetrics: meter.take,
    close: () => {
      scorer.close();
      tools?.close();
      played?.close?.();
      outside?.close();
    },
  };
  return task;
}

/** The functions that the model may call: the task's, or those that a record with a conversation offers. */
function toolsFor(definition: TaskDefinition): Pick<Task<FolderRecord>, 'tools'> {
  if (definition.tools !== undefined) {
    const tools = chatTools(definition.tools);
    return { tools: () => tools };
  }
  return conversationField(definition) === undefined ? {} : { tools: toolsOf };
}

/** What answers the model's turns: `step` of reward.ts, or a server. */
function openPlayed(
  environment: EnvironmentDefinition,
  own: readonly string[],
  scorer: Pick<Scorer, 'step'>,
  { files = {} }: FolderSource,
  access: ExternalAccess | null,
): Environment & { readonly close?: () => void } {
  const { server } = environment;
  if (server === null) return openEnvironment(environment, scorer);
  return openServedEnvironment(environment, { server, component: own[0] ?? '', files }, access);
}

/** tools.ts on a thread of its own: what a tool keeps in variables is none of the reward's. Other tools beside it. */
function openToolThreads(
  definition: TaskDefinition,
  { files = {} }: FolderSource,
  threads: RewardThreads,
  access: ExternalAccess | null,
) {
  const scorer = openScorer(toolProgram(files[TOOLS_FILE] ?? '', definition), threads);
  const outside = (definition.tools ?? []).flatMap((tool) => {
    const spec = toolSpec(tool);
    return spec === null ? [] : [[tool.name, spec] as const];
  });
  const caller = outside.length === 0 ? null : openToolCaller({ tools: Object.fromEntries(outside), files }, access);
  return {
    environment: openTools(definition, scorer, caller),
    close: () => {
      scorer.close();
      caller?.close();
    },
  };
}

/** The components outside the sandbox; null: there are none. */
function openOutside(definition: TaskDefinition, { files = {} }: FolderSource, access: ExternalAccess | null) {
  const { external } = definition;
  const ownMessages = conversationField(definition) === 'messages';
  const [first] = Object.keys(external);
  if (first === undefined) return null;
  if (access !== null) return openExternalScorer({ components: external, files, access, ownMessages });
  return {
    begin: () => {
      throw notAllowed(first);
    },
    finish: () => ({}),
    close: () => undefined,
  };
}

/** A completion's components; if one failed, all of it has. */
function scoreOf(
  names: readonly string[],
  own: readonly string[],
  scored: Scored | undefined,
  others: Readonly<Record<string, ComponentScores>>,
  row: number,
): Score {
  const values = new Map<string, number>();
  let failure = scored?.kind === 'failure' ? scored.reason : null;
  if (scored?.kind === 'numbers')
    for (const [i, name] of own.entries()) values.set(name, scored.numbers[i] ?? Number.NaN);
  for (const [name, { outcomes }] of Object.entries(others)) {
    const outcome = outcomes[row];
    if (typeof outcome === 'number') values.set(name, outcome);
    else failure ??= `${name}: ${outcome ?? 'no score'}`;
  }
  const ownOrNone = (name: string): number => (failure === null ? (values.get(name) ?? Number.NaN) : Number.NaN);
  return { components: Object.fromEntries(names.map((name) => [name, ownOrNone(name)])), failure };
}

function fileIn(folder: string): string {
  return `${folder}/${TASK_FILE}`;
}

function factsOf(name: string, definition: TaskDefinition): TaskFacts {
  return {
    name,
    rewardNames: Object.keys(definition.rewards),
    rewardWeights: Object.values(definition.rewards),
    highestReward: definition.highest_reward,
    hasTargets: definition.target !== undefined || conversationField(definition) !== undefined,
    mainMetric: FOLDER_METRIC,
    show: definition.show,
    maxCompletionLength: definition.max_completion_length ?? null,
    ...(definition.environment && { maxTurns: definition.environment.max_turns }),
    ...(definition.tools && {
      maxTurns: turnsOf(definition),
      toolNames: definition.tools.map(({ name: tool }) => tool),
    }),
  };
}

/** The record as its file has it: the messages are made from its fields. */
function withoutMessages({ record, ...answer }: Answer): Answer {
  const { messages: _, ...own } = record;
  return { record: own, ...answer };
}

/** With the messages of the prompt, which reward models judge by; each component chooses what it passes on. */
function withPrompt({ outcome: _, messages, record, ...answer }: Answer, prompt: string): Answer {
  return {
    // Completions of one record share it, and are sent to a thread with it once.
    record: prompt === record.prompt ? record : { ...record, prompt },
    ...answer,
    ...(messages && { messages: withoutOutcomes(messages) }),
  };
}
