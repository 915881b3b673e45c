/**
 * The tools of a folder's task: functions of tools.ts, called in the sandbox with the arguments that the model gave, and
 * commands and addresses, which answer while other completions continue. A call that can't be made is answered with what was wrong, so that the model can do better in its next turn.
 */

import type { ChatMessage, ChatTool, ToolCall, WrittenCall } from '../../samples/chat-message.ts';
import { beginning } from '../../text/beginning.ts';
import { counted } from '../../text/format.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import type { ToolCaller } from '../external/tool-caller.ts';
import type { CallResult } from '../external/tool-messages.ts';
import { toolSpec } from '../external/tool-spec.ts';
import { schemaFaults } from '../sandbox/json-schema.ts';
import type { RewardProgram } from '../sandbox/messages.ts';
import type { Scorer } from '../sandbox/scorer.ts';
import type { Environment, EnvironmentStep, EnvironmentTurn } from '../task.ts';
import type { TaskDefinition } from './definition.ts';

/** The file's name. */
export const TOOLS_FILE = 'tools.ts';

/** Turns that call tools, where the task doesn't say. */
const ITERATIONS = 8;
/** Characters of one result: a conversation is kept with its run. */
const LONGEST_RESULT = 20_000;

type Tools = NonNullable<TaskDefinition['tools']>;

/** The tools as chat templates are given them. */
export function chatTools(tools: Tools): readonly ChatTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

/** Whether a tool is one of tools.ts. */
export function isFunction(tool: Tools[number]): boolean {
  return toolSpec(tool) === null;
}

/** tools.ts with a `step` that calls its functions; results as `state`, in the order of the calls. */
export function toolProgram(
  text: string,
  { tools = [], time_limit_ms, memory_limit_mb }: Pick<TaskDefinition, 'tools' | 'time_limit_ms' | 'memory_limit_mb'>,
): RewardProgram {
  // A tool that tools.ts lacks is noticed when it is loaded.
  const step = `
const $tools = { ${tools
    .filter(isFunction)
    .map(({ name }) => name)
    .join(', ')} };
export const step = ({ state: calls }) => {
  const called = ({ name, given }) => {
    try {
      const value = $tools[name](given);
      if (typeof value?.then === 'function') return { error: name + ' must not be async' };
      return { text: typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null') };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };
  return { done: true, state: calls.map(called) };
};`;
  const limits = { timeMs: time_limit_ms, memoryMb: memory_limit_mb };
  return { file: TOOLS_FILE, text: text + step, components: [], hasCheck: false, hasStep: true, limits };
}

/** A call that can be made. */
interface Request {
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** What a tool gave, or why it gave nothing. */
type Result = Exclude<CallResult, { readonly failure: string }>;

/** The environment that a task's tools are. `caller`: of those outside the sandbox. */
export function openTools(
  definition: Pick<TaskDefinition, 'tools' | 'max_tool_calling_iterations'>,
  { step }: Pick<Scorer, 'step'>,
  caller: Pick<ToolCaller, 'call'> | null = null,
): Environment {
  const { tools = [] } = definition;
  const isOutside = ({ name }: Request): boolean => tools.some((tool) => tool.name === name && !isFunction(tool));

  /** The results of calls to tools.ts, turn by turn. */
  const inside = (turns: readonly EnvironmentTurn[], asked: readonly (readonly Request[])[]): (readonly Result[])[] => {
    const busy = [...asked.keys()].filter((i) => asked[i]?.length !== 0);
    const stepped = step(busy.flatMap((i) => withRequests(turns[i], asked[i] ?? [])));
    const made = new Map(busy.map((i, place) => [i, stepped[place]] as const));
    return turns.map((_, i) => {
      const reply = made.get(i);
      // A call that takes too long or too much memory is the model's doing: it reads why, as of any other error.
      if (reply?.kind === 'failure') return (asked[i] ?? []).map(() => ({ error: reply.reason }));
      return (reply?.step.state ?? []) as readonly Result[];
    });
  };
  const maxTurns = turnsOf(definition);
  const requestsIn = (turns: readonly EnvironmentTurn[]) => {
    const checked = turns.map(({ calls = [], turn }) =>
      calls.map((call) => (turn < maxTurns ? checkCall(call, tools) : tooLate(maxTurns - 1))),
    );
    return { checked, asked: checked.map((ofTurn) => ofTurn.filter((one) => 'name' in one)) };
  };
  const answer = (turns: readonly EnvironmentTurn[]): readonly EnvironmentStep[] => {
    const { checked, asked } = requestsIn(turns);
    const results = inside(turns, asked);
    return turns.map((turn, i) => stepOf(turn, checked[i] ?? [], results[i] ?? []));
  };
  const answerLater = (turns: readonly EnvironmentTurn[], { call }: Pick<ToolCaller, 'call'>) => {
    const { checked, asked } = requestsIn(turns);
    const own = inside(
      turns,
      asked.map((ofTurn) => ofTurn.filter((one) => !isOutside(one))),
    );
    return turns.map(async (turn, i): Promise<EnvironmentStep | string> => {
      const rest = (own[i] ?? [])[Symbol.iterator]();
      const results = await Promise.all(
        (asked[i] ?? []).map((one) => (isOutside(one) ? call(one.name, one.given) : (rest.next().value ?? NO_RESULT))),
      );
      // Whoever doesn't answer isn't the model's doing: the completion has failed.
      const failed = results.findIndex((result) => 'failure' in result);
      const failure = results[failed];
      if (failure !== undefined && 'failure' in failure) return `${asked[i]?.[failed]?.name}: ${failure.failure}`;
      return stepOf(turn, checked[i] ?? [], results as readonly Result[]);
    });
  };
  return {
    maxTurns,
    maxTurnTokens: null,
    hasTools: true,
    step: answer,
    ...(caller !== null && { stepLater: (turns) => answerLater(turns, caller) }),
  };
}

const NO_RESULT: Result = { error: 'no result' };

/** Turns of the model: those that call tools, and one that answers. */
export function turnsOf({
  max_tool_calling_iterations: iterations = ITERATIONS,
}: Pick<TaskDefinition, 'max_tool_calling_iterations'>): number {
  return iterations + 1;
}

function withRequests(turn: EnvironmentTurn | undefined, requests: readonly Request[]): readonly EnvironmentTurn[] {
  // The calls are all that the functions are given.
  return turn === undefined ? [] : [{ ...turn, messages: [], state: requests }];
}

/** The model won't read what such a call would give. */
function tooLate(iterations: number): { readonly error: string } {
  return { error: `Not called: ${counted(iterations, 'turn')} may call tools (max_tool_calling_iterations)` };
}

/** The request of a call, or the answer to one that can't be made. */
function checkCall(written: WrittenCall, tools: Tools): Request | { readonly error: string } {
  if ('fault' in written) return { error: `This call can't be read: ${written.fault}` };
  const { name, arguments: given } = written.call.function;
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    const names = tools.map((one) => one.name);
    return { error: `There is no tool "${name}", only ${names.join(', ')}${didYouMean(nearestName(name, names))}` };
  }
  const [fault] = schemaFaults(given, tool.parameters);
  return fault === undefined ? { name, given } : { error: `The arguments of ${name} don't fit: ${fault}` };
}

function stepOf(
  { messages, calls = [], turn, finish }: EnvironmentTurn,
  checked: readonly (Request | { readonly error: string })[],
  made: readonly Result[],
): EnvironmentStep {
  const said = messages.at(-1) ?? { role: 'assistant', content: '' };
  const isOver = calls.length === 0 || finish === 'length';
  const quiet = { message: null, rewards: null, done: isOver, state: null };
  if (calls.length === 0) return quiet;
  const rest = made[Symbol.iterator]();
  const ids = callIds(calls, turn);
  const results = checked.map((one, i): ChatMessage => {
    const result = 'error' in one ? one : (rest.next().value ?? NO_RESULT);
    const name = calls[i] !== undefined && 'call' in calls[i] ? calls[i].call.function.name : undefined;
    const content = 'text' in result ? shortened(result.text) : JSON.stringify({ error: result.error });
    return { role: 'tool', content, tool_call_id: ids[i] ?? '', ...(name !== undefined && { name }) };
  });
  const tool_calls = calls.flatMap((one, i): ToolCall[] => ('call' in one ? [{ ...one.call, id: ids[i] ?? '' }] : []));
  const asSaid = tool_calls.length === 0 ? said : { ...said, tool_calls };
  return { ...quiet, called: { turn: asSaid, results } };
}

/** The model's own, if it wrote one for each; otherwise nine letters and digits, as Mistral's template wants them. */
function callIds(calls: readonly WrittenCall[], turn: number): string[] {
  const own = calls.flatMap((one) => ('call' in one ? (one.call.id ?? []) : []));
  if (new Set(own).size === calls.length) return own;
  return calls.map((_, i) => `call${String(turn).padStart(2, '0')}${String(i).padStart(3, '0')}`);
}

function shortened(text: string): string {
  return text.length <= LONGEST_RESULT ? text : `${beginning(text, LONGEST_RESULT)} … (${text.length} characters)`;
}
