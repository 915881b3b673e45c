/**
 * Looks for faults by chance: kills, broken storage, random inputs, attacks. `npm run campaign -- --seed S --minutes M
 * --json`; `--short` is what CI runs, `--only KIND` one kind. A stay of hours is soak.ts's own command.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { attacks } from './attacks.ts';
import { fuzzParsers } from './fuzz-parsers.ts';
import { kills } from './kills.ts';
import { type Kind, openKind } from './kind.ts';
import { procedures } from './procedures.ts';
import { soaks } from './soak.ts';
import { storage } from './storage.ts';

const kinds: readonly Kind[] = [fuzzParsers, procedures, attacks, kills, storage, soaks];

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    only: { type: 'string', multiple: true },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const minutes = Number(values.minutes ?? (values.short ? 1.5 : 10));
if (!Number.isSafeInteger(seed) || seed < 0 || !(minutes > 0)) throw new Error('Expected --seed S and --minutes M');
const unknown = values.only?.find((name) => !kinds.some((kind) => kind.name === name));
if (unknown !== undefined)
  throw new Error(`Expected --only ${kinds.map(({ name }) => name).join('|')}, got ${unknown}`);
const chosen = kinds.filter(({ name }) => values.only === undefined || values.only.includes(name));
const shares = chosen.reduce((sum, { share }) => sum + share, 0);

const say = (line: string): void => void process.stderr.write(`${line}\n`);
say(`Campaign with seed ${seed}, about ${minutes} min: ${chosen.map(({ name }) => name).join(', ')}`);
// What this user has set up and stored stays out of it.
const home = mkdtempSync(join(tmpdir(), 'braid-campaign-'));
process.env.XDG_DATA_HOME = join(home, 'data');
process.env.BRAID_NATIVE = join(home, 'native');
process.env.BRAID_WORKSPACE = '';
const began = performance.now();
const byKind: Record<string, object> = {};
let [tries, failed] = [0, 0];
try {
  for (const kind of chosen) {
    const folder = join(home, kind.name);
    mkdirSync(folder);
    const milliseconds = (minutes * 60_000 * kind.share) / shares;
    const context = openKind(kind, { seed, milliseconds, short: values.short, folder }, say);
    const from = performance.now();
    await kind.run(context);
    const { failures, measured, slowest, tries: made } = context.report;
    const seconds = Math.round((performance.now() - from) / 1000);
    byKind[kind.name] = { tries: made, seconds, slowest_s: Number(slowest.toFixed(2)), ...measured, failures };
    tries += made;
    failed += measured.failed ?? 0;
    say(`${kind.name}: ${made} tries in ${seconds} s, slowest ${slowest.toFixed(2)} s, ${measured.failed ?? 0} failed`);
    rmSync(folder, { recursive: true, force: true });
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
const seconds = Math.round((performance.now() - began) / 1000);
if (values.json) process.stdout.write(`${JSON.stringify({ seed, minutes, seconds, tries, failed, kinds: byKind })}\n`);
else process.stdout.write(`${tries} tries, ${failed} failed, ${seconds} s (seed ${seed})\n`);
process.exitCode = failed === 0 ? 0 : 1;
