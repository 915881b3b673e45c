/** A task of a folder behind the interface of all tasks: its reward is computed in the sandbox, on a thread of its own. */
import type { RewardFunction } from '../sandbox/messages.ts';
import { openScorer } from '../sandbox/scorer.ts';
import { type Answer, type Score, type Task, type TaskFacts, type TaskMetrics, totalReward } from '../task.ts';
import { parseDefinition, TASK_FILE, type TaskDefinition } from './definition.ts';
import { type FolderRecord, parseFolderRecord, quotedFields } from './record.ts';
import type { FolderSource } from './source.ts';
import { fillIn } from './template.ts';

/** The metric that evaluations of such tasks are compared by: the weighted sum of the components. */
export const FOLDER_METRIC = 'reward';

/** What task.yaml says of a task. */
export function folderFacts({ name, folder, definition }: Omit<FolderSource, 'reward'>): TaskFacts {
  return factsOf(name, parseDefinition(fileIn(folder), definition));
}

/** Opens a task; errors of task.yaml are thrown here, those of reward.ts by the first batch. `entry`: sandbox/worker.ts. */
export function openFolderTask(source: FolderSource, entry: string): Task<FolderRecord> {
  const definition = parseDefinition(fileIn(source.folder), source.definition);
  const facts = factsOf(source.name, definition);
  const limits = { timeMs: definition.time_limit_ms, memoryMb: definition.memory_limit_mb };
  const program = {
    text: source.reward,
    components: facts.rewardNames,
    hasCheck: definition.check !== undefined,
    limits,
  };
  const scorer = openScorer(program, entry);

  const call = (name: RewardFunction, answers: readonly Answer[]) => scorer.score(name, answers.map(asSandboxSees));

  const score = (answers: readonly Answer[]): Score[] =>
    call('reward', answers).map((scored) => ({
      components: Object.fromEntries(
        facts.rewardNames.map((name, i) => [
          name,
          scored.kind === 'numbers' ? (scored.numbers[i] ?? Number.NaN) : Number.NaN,
        ]),
      ),
      failure: scored.kind === 'failure' ? scored.reason : null,
    }));

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
        success: reward >= definition.success_threshold ? 1 : 0,
        ...(definition.check !== undefined && { [definition.check]: checks[i] ?? Number.NaN }),
        failed: failure === null ? 0 : 1,
      };
    });
  };

  const task: Task<FolderRecord> = {
    ...facts,
    parseRecord: (value, line) => parseFolderRecord(definition, value, line),
    quoted: (record) => quotedFields(definition, record),
    reference: (record) => (definition.target === undefined ? '' : fillIn(definition.target, record).trim()),
    score,
    measure,
    check: definition.check === undefined ? null : { name: definition.check, measure: check },
    fit: () => task,
    close: scorer.close,
  };
  return task;
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
    mainMetric: FOLDER_METRIC,
    show: definition.show,
    maxCompletionLength: definition.max_completion_length ?? null,
  };
}

/** The record as its file has it: the messages are made from its fields. */
function asSandboxSees({ record: { messages: _, ...record }, ...answer }: Answer): Answer {
  return { record, ...answer };
}
