/** Templates whose records a program of theirs makes, such as one over a Python package. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { inputError } from '../../errors.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { isJsonObject, parseJson } from '../../io/json.ts';
import { programHere } from '../../io/programs.ts';
import { startReason } from '../../io/start-reason.ts';
import { TASK_FILE } from '../../tasks/folder/definition.ts';

/** What a template says of itself; a task doesn't have it. */
const TEMPLATE_FILE = 'template.yaml';
/** The interpreter of templates over a Python package, where nobody names one. */
const PYTHON = 'python3';
const TIMEOUT_MS = 600_000;
const MOST_BYTES = 256 * 2 ** 20;
/** What `make` names in place of a program: the server at the setting `url` is asked. */
export const SERVED = 'openenv';
/** What such a program may write. */
const FILES = ['records.jsonl', 'records.test.jsonl', 'examples.jsonl'];

export type TemplateSettings = Readonly<Record<string, string>>;

/** What makes a template's records: a program of its folder, or `SERVED`; null: they are in the folder. */
export function makerOf(template: string): string | null {
  const file = join(template, TEMPLATE_FILE);
  if (!existsSync(file)) return null;
  const { make } = parse(readFileSync(file, 'utf8')) as { readonly make: string };
  return make;
}

/** Makes the records of a copy of such a template with these settings; without any, those of the template stay. */
export function makeRecords(folder: string, maker: string, settings: TemplateSettings): void {
  rmSync(join(folder, TEMPLATE_FILE), { force: true });
  const { python = PYTHON, ...given } = settings;
  if (python !== PYTHON) nameInterpreter(folder, python);
  if (maker === SERVED || Object.keys(settings).length === 0) return;
  const made = run(python, folder, maker, given);
  for (const name of FILES) {
    const records = made[name];
    if (!Array.isArray(records)) throw failed(maker, `gave no ${name}`);
    writeFileAtomic(join(folder, name), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  }
}

function run(
  python: string,
  folder: string,
  maker: string,
  settings: TemplateSettings,
): Readonly<Record<string, unknown>> {
  const { error, status, stdout, stderr } = spawnSync(programHere(python), [maker, 'make'], {
    cwd: folder,
    // Elsewhere Python would read the settings in the system's encoding.
    env: { ...process.env, PYTHONUTF8: '1' },
    input: JSON.stringify(settings),
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    maxBuffer: MOST_BYTES,
  });
  if (error !== undefined) throw failed(maker, `can't be started: ${startReason(error, python)}`);
  if (status !== 0) throw failed(maker, stderr.trim().split('\n').at(-1) ?? `ended with code ${status}`);
  const made = read(stdout);
  if (isJsonObject(made)) return made;
  throw failed(maker, 'gave no JSON object');
}

function read(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function failed(maker: string, why: string) {
  return inputError(
    'RECORDS_NOT_MADE',
    `${maker} made no records: ${why}`,
    'Nothing was kept. Another Python is named by --set python=PATH.',
  );
}

/** The reward is computed by the same Python. */
function nameInterpreter(folder: string, python: string): void {
  const file = join(folder, TASK_FILE);
  writeFileAtomic(
    file,
    readFileSync(file, 'utf8').replace(`[${PYTHON}, `, () => `[${JSON.stringify(python)}, `),
  );
}
