/** A reward in its sandbox: loaded once a batch, called once for each completion. */
import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten-core';
import { inputError } from '../../errors.ts';
import { numberFault } from '../../float32.ts';
import { completedOf } from '../../samples/completion.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import { groupOf } from '../groups.ts';
import type { Answer, EnvironmentStep, EnvironmentTurn, Group } from '../task.ts';
import { NO_CLOCK } from './fixed-clock.ts';
import { LOAD_MS, REWARD_FILE, type RewardFunction, type RewardProgram } from './messages.ts';
import { openProgramThread, type ProgramThread } from './program-thread.ts';
import { openEngine, openSandbox, type Sandbox, SandboxFault } from './quickjs.ts';
import { STEP_DRIVER, stepOf } from './step-result.ts';
import { stripTypes } from './strip-types.ts';
import { callTextFunction, textFunctionNames } from './text-functions.ts';

/** Runs before the reward, and takes what it needs of the globals before the reward could change them. */
const MODULE = `
const host = globalThis.$braid;
delete globalThis.$braid;
const { parse, stringify } = JSON;
const call = (name, values) => parse(host(name, stringify(values)))[0];
${textFunctionNames.map((name) => `export const ${name} = (...values) => call('${name}', values);`).join('\n')}
export const runJavaScript = (program, expressions) =>
  call('runJavaScript', [program, expressions]).map(({ error, json }) =>
    error === undefined ? { value: json === undefined ? undefined : parse(json) } : { error },
  );
${NO_CLOCK}
`;

/**
 * Calls a function of the reward; its result as text, for the numbers NaN and Infinity have no JSON. A group
 * comes with the first of its completions; each call has a copy of its own, which it may sort.
 */
const DRIVER = `(() => {
  const { parse, stringify } = JSON;
  const { entries, fromEntries, keys } = Object;
  const { isArray } = Array;
  const told = (value) => (typeof value === 'number' ? '' + value : null);
  const typeOf = (value) => (value === null ? 'null' : typeof value);
  let newest = [];
  const copy = (value) => {
    if (typeof value !== 'object' || value === null) return value;
    if (isArray(value)) return value.map(copy);
    return fromEntries(entries(value).map(([key, one]) => [key, copy(one)]));
  };
  return (run, answer, names, place, group) => {
    if (group !== undefined) newest = parse(group);
    const value = place === undefined ? run(parse(answer)) : run(parse(answer), copy(newest), parse(place));
    if (typeof value !== 'object' || value === null) return stringify({ type: typeOf(value), number: told(value) });
    if (typeof value.then === 'function') return stringify({ type: 'promise' });
    const numbers = {};
    for (const name of parse(names)) numbers[name] = told(value[name]);
    return stringify({ type: 'object', keys: keys(value), numbers });
  };
})()`;

/** Whether a function may look at more than its first parameter, the answer: a group is many times as long. */
const TAKES_GROUP = '(run) => run.length !== 1 || /[=.]/.test((run + "").split(/\\)\\s*\\{|=>/)[0])';

interface Loaded {
  readonly sandbox: Sandbox;
  /** Calls `reward` and `check`. */
  readonly driver: QuickJSHandle;
  readonly stepDriver: QuickJSHandle;
  readonly file: string;
  /** Limit of one call. */
  readonly timeMs: number;
  readonly functions: Readonly<Partial<Record<RewardFunction, QuickJSHandle>>>;
  /** Those of them that are given the group. */
  readonly comparing: ReadonlySet<string>;
  /** The group that the driver has. */
  group: Group['completions'] | null;
}

export interface RewardSandbox {
  /** Forgets what the reward keeps in variables: a batch must not depend on the one before. */
  begin(): void;
  /** The components in order, or of `check` one number; throws a `SandboxFault`. */
  call(name: 'reward' | 'check', answer: Answer): Promise<readonly number[]>;
  /** What the environment says to a turn; throws a `SandboxFault`. */
  step(turn: EnvironmentTurn): Promise<EnvironmentStep>;
}

/**
 * Opens a reward; a program that can't run throws an input error that names the place. `worker`: the file of the thread for
 * programs in completions.
 */
export async function openRewardSandbox(program: RewardProgram, worker: string): Promise<RewardSandbox> {
  const code = stripTypes(program.text, fileOf(program));
  const programs = openProgramThread(program.limits, worker);
  let engine: QuickJSWASMModule | null = await openEngine(program.limits.memoryMb);
  let loaded: Loaded | null = null;

  function unload(): void {
    if (loaded === null) return;
    const { sandbox, driver, stepDriver, functions } = loaded;
    loaded = null;
    for (const handle of [driver, stepDriver, ...Object.values(functions)]) handle.dispose();
    if (!sandbox.dispose()) engine = null;
  }

  async function load(): Promise<Loaded> {
    engine ??= await openEngine(program.limits.memoryMb);
    if (code.includes('runJavaScript')) programs.prepare();
    return loadReward(engine, code, program, programs);
  }

  try {
    loaded = await load();
  } catch (error) {
    if (error instanceof SandboxFault) throw inputError('BAD_REWARD', error.message);
    throw error;
  }
  /** Calls into the sandbox, which is loaded first where a limit has spoiled the one before. */
  async function within<T>(work: (loaded: Loaded) => T): Promise<T> {
    try {
      loaded ??= await load();
      programs.begin();
      return work(loaded);
    } catch (error) {
      if (error instanceof SandboxFault && error.spoiled) unload();
      throw error;
    }
  }

  return {
    begin: unload,
    call: (name, answer) =>
      within((loaded) => callReward(loaded, name, answer, name === 'check' ? ['check'] : program.components)),
    step: (turn) =>
      within((loaded) => {
        const text = run(loaded, loaded.stepDriver, 'step', [turn]);
        return stepOf(text, program.components);
      }),
  };
}

function loadReward(engine: QuickJSWASMModule, code: string, program: RewardProgram, programs: ProgramThread): Loaded {
  const { limits, hasCheck, hasStep = false, components } = program;
  const file = fileOf(program);
  const sandbox = openSandbox(engine, limits.memoryMb);
  const { context, runtime } = sandbox;
  runtime.setModuleLoader((name) => (name === 'braid' ? MODULE : { error: new Error(unknownModule(name)) }));
  context
    .newFunction('$braid', (name, values) => {
      // An array, and an empty one for undefined, which has no JSON.
      const result = call(context.getString(name), JSON.parse(context.getString(values)) as unknown[]);
      return context.newString(JSON.stringify(result === undefined ? [] : [result]));
    })
    .consume((host) => context.setProp(context.global, '$braid', host));
  const call = (name: string, values: readonly unknown[]): unknown =>
    name === 'runJavaScript' ? sandbox.outside(() => runPrograms(programs, values)) : callTextFunction(name, values);
  return placed(code, file, () => sandbox.within(limits.timeMs + LOAD_MS, file, load));

  function load(): Loaded {
    const driver = sandbox.unwrap(context.evalCode(DRIVER, 'driver.js'));
    const stepDriver = sandbox.unwrap(context.evalCode(STEP_DRIVER, 'driver.js'));
    sandbox.unwrap(context.evalCode("import 'braid';", 'start.js', { type: 'module' })).dispose();
    const exports = sandbox.unwrap(context.evalCode(code, file, { type: 'module' }));
    const scores = components.length > 0 && !hasStep ? (['reward'] as const) : [];
    const names = [...scores, ...(hasStep ? (['step'] as const) : []), ...(hasCheck ? (['check'] as const) : [])];
    const functions = Object.fromEntries(names.map((name) => [name, exportedFunction(context, exports, name, file)]));
    exports.dispose();
    const takesGroup = sandbox.unwrap(context.evalCode(TAKES_GROUP, 'driver.js'));
    const isComparing = ([, called]: readonly [string, QuickJSHandle]): boolean =>
      sandbox.unwrap(context.callFunction(takesGroup, context.undefined, called)).consume(context.dump) === true;
    const comparing = new Set(
      Object.entries(functions)
        .filter(isComparing)
        .map(([name]) => name),
    );
    takesGroup.dispose();
    return { sandbox, driver, stepDriver, file, timeMs: limits.timeMs, functions, comparing, group: null };
  }
}

const fileOf = ({ file = REWARD_FILE }: RewardProgram): string => file;

function runPrograms(programs: ProgramThread, [text, expressions]: readonly unknown[]): unknown {
  if (typeof text !== 'string' || !Array.isArray(expressions) || !expressions.every((e) => typeof e === 'string'))
    throw new TypeError('runJavaScript: expected a program and a list of expressions');
  return programs.run(text, expressions);
}

/** QuickJS doesn't say where a name is imported that isn't there. */
function placed<T>(code: string, file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { message } = error as Error;
    const [, foreign] = UNKNOWN_MODULE.exec(message) ?? [];
    if (foreign !== undefined) throw importFault(code, file, foreign);
    const [, name] = /Could not find export '(\w+)' in module 'braid'/.exec(message) ?? [];
    if (name === undefined) throw error;
    const place = placeAt(code, file, code.search(new RegExp(`\\b${name}\\b`)));
    const meant = nearestName(name, [...textFunctionNames, 'runJavaScript']);
    throw new SandboxFault(`${place}: 'braid' has no "${name}"${didYouMean(meant)}`, true);
  }
}

function exportedFunction(
  context: QuickJSContext,
  exports: QuickJSHandle,
  name: RewardFunction,
  file: string,
): QuickJSHandle {
  const handle = context.getProp(exports, name);
  if (context.typeof(handle) === 'function') return handle;
  handle.dispose();
  const why = {
    reward: '',
    check: ', because task.yaml names a check',
    step: ', because task.yaml has an environment',
  };
  const others = context.getOwnPropertyNames(exports).unwrap();
  const meant = nearestName(
    name,
    others.map((other) => context.getString(other)),
  );
  others.dispose();
  const hint = meant === undefined || meant === name ? '' : `; it exports "${meant}": did you mean "${name}"?`;
  throw new SandboxFault(`${file}: expected an exported function "${name}"${why[name]}${hint}`, true);
}

const UNKNOWN_MODULE = /a reward can import from 'braid' only, got '(.*)'$/;

function unknownModule(name: string): string {
  return `a reward can import from 'braid' only, got '${name}'`;
}

/** QuickJS says neither where a module is imported nor how it is written there: `./x.ts` has become `x.ts`. */
function importFault(code: string, file: string, name: string): SandboxFault {
  const imports = [...code.matchAll(/\b(?:from|import)\s*(['"])(.*?)\1/g)];
  const found = imports.find(([, , written = '']) => written === name || written.endsWith(`/${name}`));
  const place = found === undefined ? file : placeAt(code, file, found.index);
  return new SandboxFault(`${place}: ${unknownModule(found?.[2] ?? name)}`, true);
}

/** `reward.ts:12:5` of an offset in the code. */
function placeAt(code: string, file: string, offset: number): string {
  const before = code.slice(0, Math.max(0, offset)).split('\n');
  return `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

interface Told {
  readonly type: string;
  readonly number?: string | null;
  readonly keys?: readonly string[];
  readonly numbers?: Readonly<Record<string, string | null>>;
}

function callReward(
  loaded: Loaded,
  name: 'reward' | 'check',
  answer: Answer,
  components: readonly string[],
): readonly number[] {
  const given = { record: answer.record, ...completedOf(answer) };
  const values: unknown[] = [given, components];
  if (loaded.comparing.has(name)) {
    const { completions, place } = groupOf(answer);
    values.push(place, ...(loaded.group === completions ? [] : [completions]));
    loaded.group = completions;
  }
  return numbersOf(JSON.parse(run(loaded, loaded.driver, name, values)) as Told, components, name);
}

/** Calls a function of the reward through its driver, with values as JSON. */
function run(
  { sandbox, file, timeMs, functions }: Loaded,
  driver: QuickJSHandle,
  name: RewardFunction,
  values: readonly unknown[],
): string {
  const called = functions[name];
  if (called === undefined) throw new Error(`Expected the function "${name}" to be loaded`);
  const { context } = sandbox;
  return sandbox.within(timeMs, file, () => {
    const handles = values.map((value) => context.newString(JSON.stringify(value)));
    try {
      const result = context.callFunction(driver, context.undefined, called, ...handles);
      return sandbox.unwrap(result).consume((handle) => context.getString(handle));
    } finally {
      for (const handle of handles) handle.dispose();
    }
  });
}

function numbersOf(told: Told, components: readonly string[], name: 'reward' | 'check'): readonly number[] {
  const [only] = components;
  if (told.type === 'number' && components.length === 1 && only !== undefined)
    return [finite(told.number ?? null, name)];
  if (told.type !== 'object' || name === 'check')
    throw failed(
      `${name} gave ${article(told)}; expected ${components.length === 1 ? 'a number' : fields(components)}`,
    );
  const strange = told.keys?.find((key) => !components.includes(key));
  if (strange !== undefined)
    throw failed(
      `${name} gave the component "${strange}", which task.yaml doesn't name${didYouMean(nearestName(strange, components))}`,
    );
  return components.map((component) => finite(told.numbers?.[component] ?? null, `${name}'s "${component}"`));
}

function finite(told: string | null, what: string): number {
  const number = told === null ? Number.NaN : Number(told);
  const fault = numberFault(number, told);
  if (fault === null) return number;
  throw failed(`expected ${what === 'reward' || what === 'check' ? `${what} to give` : `${what} to be`} ${fault}`);
}

function failed(message: string): SandboxFault {
  return new SandboxFault(`${REWARD_FILE}: ${message}`, false);
}

function article({ type, number }: Told): string {
  if (type === 'promise') return 'a promise (it must not be async)';
  if (type === 'number') return `the number ${number}`;
  return type === 'undefined' || type === 'null' ? 'nothing' : `a ${type === 'string' ? 'text' : type}`;
}

function fields(components: readonly string[]): string {
  return `an object with the numbers ${components.join(', ')}`;
}
