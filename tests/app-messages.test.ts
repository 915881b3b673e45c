/**
 * What the app shows names its own screens and buttons: a command in a message is for people who have no button. The command
 * line adds its commands by the error's code (main/commands/hints.ts).
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const SOURCES = 'main/{api,io,model,native,rewards,serve,services,store,tasks,tensor,trainer}/**/*.ts';

/** A command, or an option of one, in a text. */
const COMMAND = /(?:\\`|[^(`]`)braid [a-z]|\bnpm run |[A-Za-z,;] \(?--[a-z]/;

/** Where the app has no button, with the reason. */
const EXPECTED: Readonly<Record<string, string>> = {
  'main/services/doctor/workspace.ts': 'a workspace is chosen when Braid starts',
  'main/services/workspace/workspace.ts': 'a workspace is chosen when Braid starts',
  'main/services/workspace/lock.ts': 'a workspace is chosen when Braid starts',
  'main/services/workspace/read-only.ts': 'only commands open a workspace to read',
  'main/store/open.ts': 'a workspace is chosen when Braid starts',
  'main/store/copy-before.ts': 'a workspace is chosen when Braid starts',
  'main/store/errors.ts': 'a workspace is chosen when Braid starts',
  'main/io/atomic-write.ts': 'a workspace is chosen when Braid starts',
  'main/api/router/app.ts': 'a workspace is chosen when Braid starts',
  'main/api/path-access.ts': 'folders that pages may use are chosen when Braid starts',
  'main/api/router/engines.ts': 'a page must not bring commands',
  'main/api/router/native.ts': 'a page must not bring commands',
  'main/api/router/imports.ts': 'too large for a page',
  'main/services/comparisons/sampled/compare.ts': 'only `braid compare` samples',
  'main/services/data-import/split-files.ts': 'only `braid dataset import` takes folders',
  'main/services/datasets/files.ts': 'a dataset given as an option',
  'main/services/datasets/import/mapping.ts': 'a mapping given as options',
  'main/services/models/add.ts': 'an option of the command',
  'main/services/models/resolve.ts': 'an option of the command',
  'main/model/gguf/import/open.ts': 'a tool of llama.cpp',
  'main/trainer/jobs/gpu-report/job.ts': 'an option of `braid doctor`',
  'main/services/doctor/machine.ts': 'Braid runs on the wrong Node',
  'main/serve/page-files.ts': 'the page was not built',
  'main/services/runs/history.ts': 'the run for --resume without a name',
  'main/services/publish/card.ts': 'commands for those who load the model',
  'main/services/reports/make.ts': 'only `braid compare` writes such a folder',
  'main/services/reports/page.ts': 'the page was not built',
  'main/services/reports/run-content.ts': 'the commands that repeat a run',
  'main/services/servers/ray.ts': 'a command for a cluster',
  'main/services/tasks/make-records.ts': 'settings of a template are options',
  'main/services/tasks/make-served-task.ts': 'settings of a template are options',
  'main/services/tasks/new-task.ts': 'settings of a template are options',
  'main/services/tasks/server-choice.ts': 'how a server is started',
  'main/services/trackers/mlflow.ts': 'a command of MLflow',
  'main/services/trackers/follow.ts': 'only a command sends an ended run',
  'main/services/trl/import-run.ts': 'only commands import without a configuration',
  'main/services/trl/layout.ts': 'the export for TRL is a command',
  'main/services/trl/readme.ts': 'the export for TRL is a command',
  'main/services/trl/serve-reward.ts': 'the export for TRL is a command',
  'main/services/trl/trainer-state.ts': 'the export for TRL is a command',
  'main/trainer/config/other-names.ts': 'names of other trainers in a configuration file',
  'main/trainer/config/trl-names.ts': 'names of TRL in a configuration file',
};

const isComment = (line: string): boolean => /^\s*(?:\/\/|\/?\*)/.test(line);

function namesCommand(file: string): boolean {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  return lines.some((line) => !isComment(line) && COMMAND.test(line));
}

describe("the app's messages", () => {
  it('name no command where the app has a button', () => {
    const found = globSync(SOURCES, { cwd: root })
      .map((file) => file.replaceAll('\\', '/'))
      .filter(namesCommand);
    expect(found.filter((file) => EXPECTED[file] === undefined)).toEqual([]);
  });

  it('are checked for commands and options, not for other dashes', () => {
    expect(COMMAND.test("'Use `braid engine add`.'")).toBe(true);
    expect(COMMAND.test("'Choose another with --workspace.'")).toBe(true);
    expect(COMMAND.test("index--; a--b; ['--quiet', '--dest']")).toBe(false);
  });
});
