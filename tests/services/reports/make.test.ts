import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { withoutTexts } from '../../../main/services/reports/private-parts.ts';
import type { Report, ReportContent, RunContent } from '../../../main/services/reports/report.ts';
import { errorOf, sampleOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { HOSTILE, place } from './reported-run.ts';

/** What the page would read. */
function dataIn(html: string): Report {
  const packed = /<script type="application\/gzip" id="report">([^<]*)<\/script>/.exec(html)?.[1] ?? '';
  return JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString()) as Report;
}

const runOf = (report: Report): RunContent => {
  if (report.content.kind !== 'run') throw new Error('Expected a run');
  return report.content;
};

describe('makeReport', () => {
  it('holds curves, the best and the worst of each stored step, the settings, and hashes', () => {
    const { report, root } = place();
    writeFileSync(join(root, 'datasets/10words.jsonl'), 'abc');
    const { name, html } = report();
    expect(name).toBe('a-b-run.html');
    const content = runOf(dataIn(html));
    expect(content.curves.reward?.map(({ mean }) => mean)).toEqual([0.5, 1]);
    // JSON has no NaN, and the step has no loss.
    expect(content.curves.loss?.[0]).toMatchObject({ mean: { '#': 'NaN' } });
    expect(content.steps.map(({ step, best, worst }) => [step, best.completion, worst?.completion])).toEqual([
      [1, 'good 1', HOSTILE],
      [2, 'good 2', HOSTILE],
    ]);
    expect(content.defaults).toMatchObject({ temperature: 1 });
    expect(content.files).toEqual([
      {
        name: '10words.jsonl',
        what: 'training records',
        sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      },
    ]);
    expect(content.commands[0]).toBe('braid train --config run.yaml --dataset 10words.jsonl --seed 42');
  });

  it('keeps whole numbers, such as an id in the arguments of a call', () => {
    const { report, store, runId } = place();
    const call = { type: 'function', function: { name: 'find', arguments: { order: 12_345_678_901 } } } as const;
    const messages = [{ role: 'assistant', content: null, tool_calls: [call] }] as const;
    store.samples.record(runId, 2, [sampleOf({ messages })]);
    const [, last] = runOf(dataIn(report().html)).steps;
    expect(last?.best.messages?.[0]?.tool_calls?.[0]?.function.arguments).toEqual({ order: 12_345_678_901 });
  });

  it('runs no script but its own, whatever titles and completions hold', () => {
    const { html } = place().report();
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html.match(/<\/script>/g)).toHaveLength(2);
    expect(html).toContain('show("<\\/script>")');
    expect(html).toContain('<title>a &lt;b&gt; &amp; &quot;run&quot;</title>');
    expect(html).toMatch(/default-src 'none'; script-src 'sha256-[^']+'; style-src 'unsafe-inline'/);
  });

  it('carries no folder of this machine and no key, but leaves completions as they are', () => {
    const completion = () => `see /usr/share/dict/words and ${homedir()}/notes.txt`;
    const { report, store, runId, root } = place({ completion });
    store.runs.annotate(runId, `in ${root}/outputs, /srv/data/x.txt, key sk-abcdefghijklmnopqrstuvwx`, []);
    const { html } = report();
    const text = JSON.stringify(dataIn(html));
    for (const secret of [root, homedir(), '/srv/data', 'sk-abc']) expect(text).not.toContain(secret);
    const content = runOf(dataIn(html));
    expect(content.detail.notes).toBe('in outputs, x.txt, key …');
    expect(content.steps[0]?.worst?.completion).toBe('see /usr/share/dict/words and notes.txt');
  });

  it('has no key in it, by its form, its name or its place in an address', () => {
    const { report, store, runId } = place();
    const key = 'aB3dE6gH9jK2mN5pQ8sT1vW4';
    const forms = [`tml-${key}`, `github_pat_${key}`, `eyJ${key}.${key}.x`, `?token=${key}`, `X-API-Key: ${key}`];
    for (const text of [...forms, `https://${key}@host/x`, `https://:${key}@host/x`, `https://u:p@${key}@host/x`]) {
      store.runs.annotate(runId, `see ${text} there`, []);
      const { notes } = runOf(dataIn(report().html)).detail;
      expect(notes, text).not.toContain(key);
      expect(notes, text).toMatch(/^see .* there$/);
    }
  });

  it('names no folder, of any script or with spaces in it', () => {
    const { report, store, runId } = place();
    const cases = [
      ['/данные/модели/llama', 'llama'],
      ['/mnt/My Disk/llama 3', 'llama 3'],
      ['C:\\Users\\Jürgen\\My модели\\x', 'x'],
      ["can't read /mnt/jürgen/секрет/x.jsonl: gone", "can't read x.jsonl: gone"],
      ['/mnt/x.jsonl, line 3: expected a/b', 'x.jsonl, line 3: expected a/b'],
    ] as const;
    for (const [text, shared] of cases) {
      store.runs.annotate(runId, text, []);
      expect(runOf(dataIn(report().html)).detail.notes).toBe(shared);
    }
  });

  it('leaves texts out where asked, and keeps the scores', () => {
    const { report, store, runId } = place({ fields: { system_prompt: 'secret prompt' } });
    store.runs.annotate(runId, 'secret note', []);
    const failed = 'The reward failed on a completion of record 1: no score in "secret answer"';
    store.runs.setState(runId, 'failed', failed);
    const event = { runId, step: 1, kind: 'warning', severity: 'warning', remedy: null } as const;
    store.events.record({ ...event, message: "can't write secret words", data: { words: ['secret'] } });
    const made = dataIn(report({ of: 'run', id: runId }, false).html);
    expect(JSON.stringify(made)).not.toMatch(/secret|good 1|owned/);
    expect(runOf(made).steps[0]).toMatchObject({ best: { reward: 1 }, worst: { reward: 0 } });
    expect(made.hasTexts).toBe(false);
  });

  it('leaves out the prompts of stages and of settings that were compared', () => {
    const values = { system_prompt: 'secret prompt' };
    const row = { setting: 0, values, label: 'system_prompt secret prompt', trials: [{ seed: 7, name: 'secret' }] };
    const sweep = { name: 's', fields: ['system_prompt'], leader: { values, label: row.label }, rows: [row] };
    const curriculum = { stages: [{ config: values, run: { reason: 'no score in "secret answer"' } }] };
    const contents = [
      { kind: 'sweep', sweep },
      { kind: 'curriculum', curriculum },
    ] as unknown as ReportContent[];
    const left = contents.map(withoutTexts);
    expect(JSON.stringify(left)).not.toContain('secret');
    expect(left[0]).toMatchObject({
      sweep: { rows: [{ label: 'setting 1', trials: [{ name: 'setting 1, seed 7' }] }] },
    });
  });

  it('stays under 3 MB by storing fewer steps, evenly spread', () => {
    // Long words that compress badly, and each step's its own.
    const completion = (step: number): string =>
      createHash('shake256', { outputLength: 40_000 }).update(`${step}`).digest('hex');
    const { report, runId } = place({ steps: 60, completion });
    const { html } = report({ of: 'run', id: runId });
    const { steps, storedSteps } = runOf(dataIn(html));
    expect(html.length).toBeLessThan(3e6);
    expect(storedSteps).toBe(60);
    expect(steps.length).toBeLessThan(60);
    expect([steps[0]?.step, steps.at(-1)?.step]).toEqual([1, 60]);
  });

  it('says what is missing', () => {
    const { report } = place();
    expect(errorOf(() => report({ of: 'run', id: 99 }))).toMatchObject({ code: 'RUN_UNKNOWN' });
    expect(errorOf(() => report({ of: 'replies' }))).toMatchObject({ code: 'NO_REPORT' });
    expect(errorOf(() => report({ of: 'curriculum' }))).toMatchObject({ code: 'NO_STAGES' });
    const folder = temporaryFolder();
    for (const part of ['figures', 'data']) mkdirSync(join(folder, part));
    const numbers = { task: 'interleave', models: [{}, {}], prompts: 8, rows: [] };
    writeFileSync(join(folder, 'comparison.json'), JSON.stringify(numbers));
    expect(report({ of: 'folder', folder }).report).toMatchObject({
      title: 'Comparison on interleave',
      summary: '2 models on 8 prompts.',
    });
    expect(errorOf(() => report({ of: 'folder', folder: temporaryFolder() }))).toMatchObject({ code: 'NO_REPORT' });
  });
});
