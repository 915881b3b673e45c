/** Makes reports: gathers a result, leaves out what must stay here, and keeps the file small enough for a mail. */
import { statSync } from 'node:fs';
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { inputError } from '../../errors.ts';
import { counted } from '../../text/format.ts';
import { VERSION } from '../../version.ts';
import { promptAnswers, readComparison } from '../comparisons/paired/index.ts';
import { curriculum } from '../curriculum/curriculum.ts';
import { forgetting } from '../curriculum/forgetting.ts';
import { replyReport, reportIn } from '../replies/report.ts';
import { sweepView } from '../sweeps/result.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { type PageParts, readPageParts, reportPage } from './page.ts';
import { withoutPlaces, withoutTexts } from './private-parts.ts';
import type { Report, ReportContent } from './report.ts';
import { evenly, runContent } from './run-content.ts';

/** What a report is of. */
export type ReportSubject =
  | { readonly of: 'run' | 'comparison' | 'sweep'; readonly id: number }
  | { readonly of: 'replies' | 'curriculum' }
  /** A comparison that `braid compare` wrote. */
  | { readonly of: 'folder'; readonly folder: string };

type ReportPlace = Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>;

export interface ReportFile {
  /** A file name that fits the report. */
  readonly name: string;
  readonly html: string;
  readonly report: Report;
}

/** A report says what was reached, not what waits. */
const noHold = { held: () => null, heldFor: () => null };
/** More wouldn't pass every mail server, in bytes. */
const LARGEST = 3e6;
/** Stored steps to begin with; fewer where they don't fit. */
const STEPS = 400;

/** The report; `texts: false` leaves prompts, targets and completions out. */
export function makeReport(
  place: ReportPlace,
  subject: ReportSubject,
  { texts }: { readonly texts: boolean },
): ReportFile {
  const parts = readPageParts(place.paths.page);
  let content = contentOf(place, subject);
  for (;;) {
    const file = reportOf(place, content, texts, parts);
    if (Buffer.byteLength(file.html) <= LARGEST || content.kind !== 'run' || content.steps.length < 2) return file;
    content = { ...content, steps: evenly(content.steps, Math.ceil(content.steps.length / 2)) };
  }
}

function reportOf(place: ReportPlace, content: ReportContent, texts: boolean, parts: PageParts): ReportFile {
  const shared = withoutPlaces(texts ? content : withoutTexts(content), place.workspace.root);
  const { title, summary } = headOf(shared);
  const report: Report = {
    title,
    summary,
    madeAt: Date.now(),
    version: VERSION,
    machine: machine(),
    hasTexts: texts,
    content: shared,
  };
  const name = `${title.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-').replace(/^-+|-+$/g, '')}.html`;
  return { name, html: reportPage(report, parts), report };
}

function contentOf(place: ReportPlace, subject: ReportSubject): ReportContent {
  const { store } = place;
  switch (subject.of) {
    case 'run':
      return runContent(store, subject.id, STEPS);
    case 'comparison': {
      const view = readComparison(place, subject.id);
      const answers = view.rows.map(({ id }) => [id, promptAnswers(store, subject.id, id)] as const);
      return { kind: 'comparison', view, answers: Object.fromEntries(answers) };
    }
    case 'sweep':
      return { kind: 'sweep', sweep: sweepView(store, subject.id) };
    case 'replies': {
      const report = replyReport(place);
      if (report !== null) return { kind: 'replies', report };
      throw inputError('NO_REPORT', 'There is no comparison of replies yet', 'Compare the methods first.');
    }
    case 'folder': {
      const report = reportIn(subject.folder, statSync(subject.folder).mtimeMs);
      if (report !== null) return { kind: 'replies', report };
      throw inputError(
        'NO_REPORT',
        `There is no comparison in ${subject.folder}`,
        'Name the --output of braid compare.',
      );
    }
    case 'curriculum': {
      const all = curriculum({ ...place, queue: noHold }, false);
      // A file has nothing to measure with.
      if (all.stages.length > 0)
        return { kind: 'curriculum', curriculum: all, forgetting: { ...forgetting(store, place.paths), missing: 0 } };
      throw inputError('NO_STAGES', 'The curriculum has no stages yet', 'Add a stage first.');
    }
  }
}

function headOf(content: ReportContent): Pick<Report, 'title' | 'summary'> {
  switch (content.kind) {
    case 'run': {
      const { title, sentences } = content.standing.verdict;
      return { title: content.detail.name, summary: `${title}: ${sentences.join(' ')}` };
    }
    case 'comparison': {
      const { models, prompts } = content.view;
      const scores = models.map(({ name, mean }) => `${name} ${mean === null ? 'not evaluated' : mean.toFixed(3)}`);
      return {
        title: models.map(({ name }) => name).join(' and '),
        summary: `${counted(prompts.n, 'held-out prompt')}: ${scores.join(', ')}.`,
      };
    }
    case 'sweep':
      return { title: content.sweep.name, summary: `${counted(content.sweep.rows.length, 'setting')} compared.` };
    case 'replies': {
      const { task, models, prompts } = content.report.numbers;
      return {
        title: task === 'reply' ? 'Comparison of replies' : `Comparison on ${task}`,
        summary: `${counted(models.length, 'model')} on ${counted(prompts, task === 'reply' ? 'post' : 'prompt')}.`,
      };
    }
    case 'curriculum':
      return { title: 'Curriculum', summary: `${counted(content.curriculum.stages.length, 'stage')}.` };
  }
}

function machine(): string {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const [version] = release().split('-');
  return `${first?.model.trim() ?? arch()}, ${counted(availableParallelism(), 'core')}, ${memory}, ${platform()} ${version}, Node ${process.versions.node}`;
}
