/** Trackers whose clients are Python's: a process of `bridge.py` for each run, asked in lines of JSON. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programHere } from '../../io/programs.ts';
import { startReason } from '../../io/start-reason.ts';
import { jsonNumber, type Tracker, TrackerRefusal } from './tracker.ts';

const TITLES = { trackio: 'Trackio', wandb: 'W&B' } as const;
/** For the client's own import, and for each answer. */
const TIMEOUT_MS = 60_000;
const KEPT_STDERR = 400;

export interface PythonOptions {
  readonly resources: string;
  /** Its python, `BRAID_PYTHON`, is the environment that has the clients. */
  readonly env?: NodeJS.ProcessEnv;
}

export function openPythonTracker(name: keyof typeof TITLES, { resources, env = process.env }: PythonOptions): Tracker {
  const python = env.BRAID_PYTHON || programHere('python3');
  const title = TITLES[name];
  let bridge: Promise<Bridge> | null = null;
  const ask = async (message: unknown): Promise<Answer> => {
    bridge ??= startBridge(python, [join(resources, 'trackers', 'bridge.py'), name], env, title);
    try {
      return await (await bridge).ask(message);
    } catch (error) {
      // The next question starts another.
      void bridge.then(({ kill }) => kill()).catch(() => undefined);
      bridge = null;
      throw error;
    }
  };
  return {
    name,
    title,
    open: async ({ project, name: runName, config, folder }, id) =>
      String((await ask({ op: 'open', project, name: runName, config, folder, id })).id),
    log: async (steps) => {
      const rows = steps.map(({ step, metrics }) => {
        const values = Object.entries(metrics).map(([key, value]) => [key, jsonNumber(value)]);
        return { step, metrics: Object.fromEntries(values) };
      });
      await ask({ op: 'log', rows });
    },
    table: async (table) => void (await ask({ op: 'table', name: 'completions', ...table })),
    close: async (end) => {
      await ask({ op: 'close', failed: end !== null && end.how !== 'finished' });
      (await bridge)?.end();
    },
    drop: () => void bridge?.then(({ kill }) => kill()).catch(() => undefined),
  };
}

interface Answer {
  readonly id?: unknown;
}

interface Bridge {
  ask(message: unknown): Promise<Answer>;
  end(): void;
  kill(): void;
}

async function startBridge(
  python: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  title: string,
): Promise<Bridge> {
  const child = spawn(python, args, { stdio: 'pipe', env: { ...env, PYTHONUNBUFFERED: '1', PYTHONUTF8: '1' } });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-KEPT_STDERR);
  });
  child.stdin.on('error', () => undefined);
  const waiting: { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void }[] = [];
  let ended: Error | null = null;
  const end = (error: Error): void => {
    ended ??= error;
    for (const { reject } of waiting.splice(0)) reject(ended);
  };
  child.on('error', (error) => end(refusedStart(startReason(error, python), title)));
  child.on('close', (code) => end(new Error(`its client ended (${code}): ${stderr.trim().split('\n').at(-1) ?? ''}`)));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const asked = waiting.shift();
    try {
      const { error, missing, ...rest } = JSON.parse(line) as Answer & { error?: string; missing?: string };
      if (missing !== undefined) asked?.reject(notInstalled(missing, python, title));
      else if (error !== undefined) asked?.reject(new Error(error));
      else asked?.resolve(rest);
    } catch {
      asked?.reject(new Error(`its client wrote a line that isn't JSON: ${line.slice(0, 100)}`));
    }
  });
  const answered = (): Promise<Answer> =>
    new Promise((resolve, reject) => {
      if (ended !== null) return reject(ended);
      const timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
      const done = <T>(settle: (value: T) => void) => {
        return (value: T): void => {
          clearTimeout(timer);
          settle(value);
        };
      };
      waiting.push({ resolve: done(resolve), reject: done(reject) });
    });
  const kill = (): void => void child.kill('SIGKILL');
  await answered().catch((error: unknown) => {
    kill();
    throw error;
  });
  return {
    ask: (message) => {
      const answer = answered();
      child.stdin.write(`${JSON.stringify(message)}\n`);
      return answer;
    },
    end: () => void child.stdin.end(),
    kill,
  };
}

function refusedStart(reason: string, title: string): TrackerRefusal {
  return new TrackerRefusal(
    `${title} needs Python: ${reason}`,
    'Install Python 3, or name it in BRAID_PYTHON, and start Braid again.',
  );
}

function notInstalled(module: string, python: string, title: string): TrackerRefusal {
  return new TrackerRefusal(
    `${title}: ${python} has no module ${module}`,
    `Install it: ${python} -m pip install ${module}. BRAID_PYTHON names another Python.`,
  );
}
