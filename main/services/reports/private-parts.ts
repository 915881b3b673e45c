/** What a report must not carry to others: paths of this machine, keys, and texts that are to stay here. */
import { homedir, tmpdir } from 'node:os';
import { basename } from 'node:path';
import type { PromptAnswers } from '../comparisons/paired/index.ts';
import type { SampleView } from '../runs/samples/samples.ts';
import type { ComparisonContent, ReportContent, RunContent, SweepContent } from './report.ts';

/** Keys of services by their usual forms, or by the word before them: they can stand in a note, an address or a message. */
const KEYS =
  /\b(?:sk|pk|rk|hf|ghp|gho|github_pat|glpat|xox[abp]|AKIA|AIza|gsk|csk|xai|pplx|nvapi|r8|fw|tml|wandb_v\d|eyJ)[-_]?[A-Za-z0-9_-]{16,}(?:\.[\w-]+)*|\b(?:Bearer|Authorization:\s*Basic)\s+[\w.~+/-]{16,}=*/g;
const NAMED_KEYS = /\b((?:api|access|secret)?[-_]?(?:key|token|secret|password))(["']?\s*[:=]\s*["']?)[^\s"'&]{8,}/gi;
const CREDENTIALS = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/]*@/gi;
/** An absolute path of two parts or more, in letters of any script; of an address, `//` comes before it. */
const PATH =
  /(?<![\p{L}\p{M}\p{N}_/.:~])(?:\/(?:[\p{L}\p{M}\p{N}_.@+~-]+\/)+[\p{L}\p{M}\p{N}_.@+~-]*|[A-Za-z]:\\(?:[^\\\s"']+\\)*[^\\\s"']*)/gu;
/** A text that is a path and no sentence: its folders may have spaces. */
const WHOLE_PATH = /^(?!.*[,:;]\s)(?:(?:\/[^/\n]+){2,}|[A-Za-z]:\\[^\n]+)$/;

/** What prompts and completions are under: a path in one is a text's, not this machine's. */
const TEXTS = ['steps', 'answers'];

/** Without paths of folders and without keys; texts lose only this machine's own folders. `root`: the workspace. */
export function withoutPlaces<Content extends ReportContent>(content: Content, root: string): Content {
  const folders = [root, homedir(), tmpdir()].filter((folder) => folder.length > 1);
  const inText = (text: string): string =>
    folders.reduce((before, folder) => before.replaceAll(`${folder}/`, ''), text);
  const named = (path: string): string => basename(path.replaceAll('\\', '/'));
  const elsewhere = (text: string): string => {
    const shared = inText(text);
    const short = WHOLE_PATH.test(shared) ? named(shared) : shared;
    const open = short.replace(CREDENTIALS, '$1').replace(KEYS, '…').replace(NAMED_KEYS, '$1$2…');
    return open.replace(PATH, named);
  };
  const parts = Object.entries(content).map(([name, part]) => [
    name,
    changed(part, TEXTS.includes(name) ? inText : elsewhere),
  ]);
  return Object.fromEntries(parts);
}

/** The value with each of its texts cleaned; `field`: what a text is the value of. */
function changed(value: unknown, clean: (text: string, field: string) => string, field = ''): unknown {
  if (typeof value === 'string') return clean(value, field);
  if (Array.isArray(value)) return value.map((item) => changed(item, clean, field));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, changed(item, clean, name)]));
}

/** What stands for a text that isn't shared. */
export const LEFT_OUT = '(text left out)';

/** Without prompts, targets, completions, prompts of the configuration, and the user's notes; the scores stay. */
export function withoutTexts(content: ReportContent): ReportContent {
  const left = (text: string, field: string) => (text !== '' && TEXT_FIELDS.includes(field) ? LEFT_OUT : text);
  return changed(withoutOwnTexts(content), left) as ReportContent;
}

/** Settings whose values are texts of the user. */
const TEXT_SETTINGS = ['system_prompt', 'reply_prompt'];
/** Those, in a run as in a stage, and why something ended: a reward that failed quotes the completion. */
const TEXT_FIELDS = [...TEXT_SETTINGS, 'reason'];

function withoutOwnTexts(content: ReportContent): ReportContent {
  switch (content.kind) {
    case 'run':
      return runWithoutTexts(content);
    case 'comparison':
      return comparisonWithoutTexts(content);
    case 'sweep':
      return sweepWithoutTexts(content);
    case 'replies':
    case 'curriculum':
      return content;
  }
}

function runWithoutTexts(content: RunContent): RunContent {
  const { detail, standing, steps } = content;
  return {
    ...content,
    // Warnings quote words of records.
    detail: {
      ...detail,
      notes: '',
      events: detail.events.map((event) => ({ ...event, message: LEFT_OUT, remedy: null, data: null })),
    },
    standing: { ...standing, run: { ...standing.run, notes: '' } },
    steps: steps.map((step) => ({
      ...step,
      best: sampleWithoutTexts(step.best),
      worst: step.worst === null ? null : sampleWithoutTexts(step.worst),
    })),
  };
}

/** Settings are labelled, and their runs named, by their values. */
function sweepWithoutTexts(content: SweepContent): SweepContent {
  const { sweep } = content;
  const { rows, leader } = sweep;
  if (!sweep.fields.some((field) => TEXT_SETTINGS.includes(field))) return content;
  const labelOf = (label: string): string => `setting ${(rows.find((row) => row.label === label)?.setting ?? 0) + 1}`;
  const unnamed = rows.map((row) => ({
    ...row,
    label: labelOf(row.label),
    trials: row.trials.map((trial) => ({ ...trial, name: `${labelOf(row.label)}, seed ${trial.seed}` })),
  }));
  return {
    ...content,
    sweep: { ...sweep, rows: unnamed, leader: leader && { ...leader, label: labelOf(leader.label) } },
  };
}

function sampleWithoutTexts({ messages: _, promptMessages: __, ...sample }: SampleView): SampleView {
  return {
    ...sample,
    prompt: LEFT_OUT,
    target: '',
    completion: LEFT_OUT,
    failure: null,
    alignment: null,
    show: 'plain',
  };
}

function comparisonWithoutTexts(content: ComparisonContent): ComparisonContent {
  const none: Readonly<Record<string, PromptAnswers>> = {};
  const rows = content.view.rows.map((row) => ({ ...row, titles: ['', ''] as const }));
  return { ...content, view: { ...content.view, rows }, answers: none };
}
