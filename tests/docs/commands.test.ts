/** What documents and workflows tell people and machines to run is there, and what they name is in the files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const forms = readdirSync(join(root, '.github/ISSUE_TEMPLATE')).map((name) => `.github/ISSUE_TEMPLATE/${name}`);
const documents = ['README.md', 'CONTRIBUTING.md', ...markdownIn('docs'), ...markdownIn('.github')];

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : []));
}

describe('commands', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

  it.each([...documents, ...workflows])('of %s are in the tree', (file) => {
    const text = read(file);
    const missing = [...text.matchAll(/\bnpm run ([\w:-]+)/g)].filter(([, name = '']) => !(name in scripts));
    const absent = [...text.matchAll(/\bnode ((?:scripts|tests|main)\/[\w./-]+)/g)].filter(
      ([, path = '']) => !existsSync(join(root, path)),
    );
    expect([...missing, ...absent].map(([command]) => command)).toEqual([]);
  });
});

describe('names that link to a file', () => {
  it.each(['CONTRIBUTING.md', 'SECURITY.md', 'docs/inside.md'])('of %s stand in that file', (file) => {
    // [`policyTerm`](main/trainer/losses/losses.ts)
    const links = [...read(file).matchAll(/\[`([\w.]+)`\]\((?!https?:)([^)#]+)\)/g)];
    const lost = links.filter(
      ([, name = '', path = '']) => !name.includes('.') && !read(join(dirname(file), path)).includes(name),
    );
    expect(lost.map(([link]) => link)).toEqual([]);
    if (file === 'docs/inside.md') expect(links.length).toBeGreaterThan(20);
  });
});

interface Step {
  readonly uses?: string;
}

interface Workflow {
  readonly on: Record<string, unknown>;
  readonly jobs: Record<string, { readonly uses?: string; readonly steps?: readonly Step[] }>;
}

describe('workflows', () => {
  it.each(workflows)('%s pins every action to a commit, and names its version', (file) => {
    const { on, jobs } = parse(read(file)) as Workflow;
    expect(Object.keys(on)).not.toEqual([]);
    const uses = Object.values(jobs).flatMap(({ uses, steps = [] }) => [uses, ...steps.map((step) => step.uses)]);
    const actions = uses.filter((action) => action !== undefined);
    expect(actions).not.toEqual([]);
    for (const action of actions) {
      if (action.startsWith('./')) expect(existsSync(join(root, action))).toBe(true);
      else {
        expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
        expect(read(file)).toMatch(new RegExp(`${action} # v\\d+\\.\\d+\\.\\d+$`, 'm'));
      }
    }
  });

  it('and forms are YAML that GitHub can read', () => {
    for (const file of [...workflows, ...forms, '.github/dependabot.yml'])
      expect(parse(read(file)), file).toBeTypeOf('object');
    for (const form of forms.filter((file) => !file.endsWith('config.yml')))
      expect(parse(read(form)), form).toMatchObject({
        name: expect.any(String),
        description: expect.any(String),
        body: expect.any(Array),
      });
  });
});
