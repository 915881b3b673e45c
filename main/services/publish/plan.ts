/** What a push would put into a repository of the Hub, before anything is sent: the dry run shows it. */
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, sep } from 'node:path';
import { stringify } from 'yaml';
import { inputError } from '../../errors.ts';
import { isJsonObject, parseJsonAsSpelled } from '../../io/json.ts';
import { readRegular } from '../../io/read-file.ts';
import { WARM_UP_LOSS } from '../../trainer/config/config.ts';
import { textPartOf } from '../../trainer/memory/model-folder.ts';
import { lineChart } from '../figures/line-chart.ts';
import { svgToPng } from '../figures/png.ts';
import { HUB_NAME, recordedHubModel } from '../models/hub-origin.ts';
import { baseOfAdapter } from '../models/resolve.ts';
import { makeReport } from '../reports/make.ts';
import { withoutPlaces, withoutTexts } from '../reports/private-parts.ts';
import type { RunContent } from '../reports/report.ts';
import { runContent } from '../reports/run-content.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { type CardSubject, modelCard } from './card.ts';

export interface PushFile {
  /** In the repository, with `/` between its parts. */
  readonly path: string;
  readonly bytes: number;
  /** What it holds, or the file that does. */
  readonly content: Buffer | { readonly file: string };
}

export interface PushPlan {
  /** `owner/name`. */
  readonly repo: string;
  readonly type: 'model' | 'dataset';
  /** In the order of their names; the card is README.md. */
  readonly files: readonly PushFile[];
  /** What the card can't say. */
  readonly notes: readonly PushNote[];
}

export interface PushNote {
  readonly message: string;
  /** The option that says it. */
  readonly option: 'run' | 'license' | 'base-model';
}

/** A plan for the page. */
export interface PushPreview {
  readonly repo: string;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly notes: readonly PushNote[];
  /** The card, in Markdown. */
  readonly card: string;
}

export interface ModelPush {
  readonly repo: string;
  /** A checkpoint or a model folder. */
  readonly folder: string;
  /** The checkpoint that it was merged from; the folder itself where it wasn't. */
  readonly trained: string;
  /** The run for the card; null: the one that wrote the checkpoint, if there is one. */
  readonly runId: number | null;
  /** Whether completions may go with it. */
  readonly texts: boolean;
  /** The base model's name on the Hub; null: as its folder or the adapter says. */
  readonly baseModel: string | null;
  /** null: the base model's, if it says one. */
  readonly license: string | null;
}

type Place = Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>;

/** What makes a model; the optimiser, the random state and the trainer's log stay here. */
const PUSHED =
  /^(adapter_config|config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|model\.safetensors\.index)\.json$|^chat_template\.jinja$|^(adapter_model|model(-\d+-of-\d+)?)\.safetensors$|^[\w.-]+\.gguf$|^(Modelfile|LICENSE(\.\w+)?|NOTICE(\.\w+)?)$/;

/** The files of a trained model with its card, curves, configuration and report. */
export async function planModelPush(place: Place, push: ModelPush): Promise<PushPlan> {
  const { folder, repo } = push;
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => PUSHED.test(name)) : [];
  const kind = names.includes('adapter_config.json') ? 'adapter' : 'model';
  if (!names.some((name) => name.endsWith('.safetensors')))
    throw inputError(
      'MODEL_MISSING',
      `${folder}: expected a checkpoint or a model folder with safetensors files, there are none`,
      'Name a checkpoint of a run, or the folder that braid merge wrote.',
    );
  refuseLinksOut(folder, names);
  const made = madeBy(place, push);
  const content = made === null ? null : shared(place, made.runId, push.texts);
  const curves = content === null ? [] : await curveFiles(content, place.paths);
  const report = made === null ? null : reportFile(place, made.runId, push.texts);
  const found = baseOf(place, kind, folder, made?.runId ?? null);
  const base = push.baseModel === null ? found : { ...found, name: basename(push.baseModel), repo: push.baseModel };
  const license = push.license ?? licenseIn(folder) ?? (base.folder === null ? null : licenseIn(base.folder));
  const subject: CardSubject = {
    repo,
    kind,
    base,
    isTextPart: isTextPart(base),
    license,
    curves,
    step: made?.step ?? null,
    gguf: names.find((name) => name.endsWith('.gguf')) ?? null,
    report: report?.path ?? null,
  };
  const card = textFile('README.md', modelCard(subject, content));
  const own = names.map((name) => modelFile(folder, name, base));
  const configuration = content === null ? [] : [textFile('run.yaml', stringify(content.detail.config))];
  const files = [...own, card, ...configuration, ...curves, ...(report === null ? [] : [report])];
  return { repo, type: 'model', files: sorted(files), notes: notesOf(subject, content) };
}

/**
 * A link in a folder from somebody else could put any file of the user on the Hub. The Hub's own cache is made of links to
 * files beside its snapshots.
 */
function refuseLinksOut(folder: string, names: readonly string[]): void {
  const real = realpathSync(folder);
  const [home] = /^.*[\\/]models--[^\\/]+(?=[\\/]snapshots[\\/][^\\/]+$)/.exec(real) ?? [real];
  const out = names.find((name) => !realpathSync(join(real, name)).startsWith(home + sep));
  if (out === undefined) return;
  throw inputError(
    'PUSH_LINK',
    `${join(folder, out)} is a link to a file outside of the model's folder: ${realpathSync(join(real, out))}`,
    "Nothing was sent. If the file is the model's, replace the link by it.",
  );
}

function notesOf({ base, license }: CardSubject, run: RunContent | null): readonly PushNote[] {
  const unknown: readonly (PushNote | false)[] = [
    run === null && {
      message: 'No run is known that made it: the card says nothing of its training.',
      option: 'run',
    },
    license === null && { message: "The base model's licence isn't known.", option: 'license' },
    base.repo === null && {
      message: `Which repository of the Hub holds ${base.name} isn't known.`,
      option: 'base-model',
    },
  ];
  return unknown.filter((note) => note !== false);
}

interface Maker {
  readonly runId: number;
  readonly step: number | null;
}

function madeBy({ store }: Place, { trained, runId }: ModelPush): Maker | null {
  const checkpoint = store.checkpoints.all().find(({ path }) => fromStoredPath(store.folder, path) === trained);
  if (runId !== null) return { runId, step: checkpoint?.runId === runId ? checkpoint.step : null };
  return checkpoint === undefined ? null : { runId: checkpoint.runId, step: checkpoint.step };
}

/** The run as it may go to others. Of its completions the card shows the newest. */
function shared({ store, workspace }: Place, runId: number, texts: boolean): RunContent {
  const whole = runContent(store, runId, STEPS);
  const cleaned = withoutPlaces(texts ? whole : withoutTexts(whole), workspace.root);
  if (cleaned.kind !== 'run') throw new Error(`Expected a run, got ${cleaned.kind}`);
  return cleaned;
}

/** Stored steps to choose the card's completions from. */
const STEPS = 400;

const CURVES = [
  { metric: 'reward', title: 'Reward' },
  { metric: WARM_UP_LOSS, title: 'Loss of the warm-up' },
  { metric: 'loss', title: 'Loss' },
  { metric: 'kl', title: 'KL from the reference' },
  { metric: 'completions/mean_length', title: 'Mean length of completions, tokens' },
];

async function curveFiles(
  { curves, detail }: RunContent,
  paths: Place['paths'],
): Promise<readonly (PushFile & { readonly file: string; readonly title: string })[]> {
  const heldOut = detail.evaluations.map(({ step, mean, low, high }) => ({
    x: step,
    y: mean,
    ...(low !== null && high !== null && { low, high }),
  }));
  const charts = [
    ...(heldOut.length < 2 ? [] : [{ name: 'held-out', title: 'Held-out score', points: heldOut }]),
    ...CURVES.flatMap(({ metric, title }) => {
      const points = (curves[metric] ?? []).map(({ lastStep, mean }) => ({ x: lastStep, y: mean }));
      return points.length < 2 ? [] : [{ name: metric.replaceAll('/', '-'), title, points }];
    }),
  ];
  const drawn: (PushFile & { readonly file: string; readonly title: string })[] = [];
  for (const { name, title, points } of charts) {
    const svg = lineChart({ title, xLabel: 'step', yLabel: '', series: [{ name: title, points }] });
    const content = Buffer.from(await svgToPng(svg, paths));
    const path = `curves/${name}.png`;
    drawn.push({ path, file: path, title, content, bytes: content.length });
  }
  return drawn;
}

function reportFile(place: Place, id: number, texts: boolean): PushFile {
  return textFile('report.html', makeReport(place, { of: 'run', id }, { texts }).html);
}

interface Base {
  readonly name: string;
  readonly repo: string | null;
  /** null: it isn't here. */
  readonly folder: string | null;
}

/** The model that training started from. */
function baseOf({ store, paths }: Place, kind: CardSubject['kind'], folder: string, runId: number | null): Base {
  const found = kind === 'adapter' ? baseOfAdapter(folder, paths) : null;
  const named =
    kind === 'adapter' ? adapterBase(folder) : runId === null ? folder : (store.runs.get(runId)?.model ?? folder);
  const at = found ?? (existsSync(join(named, 'config.json')) ? named : null);
  const recorded = at === null ? null : recordedHubModel(at);
  if (recorded !== null) return { name: basename(recorded.repo), repo: recorded.repo, folder: at };
  const isHub = !isAbsolute(named) && !existsSync(named) && HUB_NAME.test(named);
  return { name: basename(at ?? named), repo: isHub ? named : null, folder: at };
}

function isTextPart({ folder }: Base): boolean {
  const file = join(folder ?? '', 'config.json');
  return folder !== null && existsSync(file) && textPartOf(jsonIn(file)) !== null;
}

function adapterBase(folder: string): string {
  const { base_model_name_or_path: name } = jsonIn(join(folder, 'adapter_config.json'));
  return typeof name === 'string' ? name : 'unknown';
}

/** Its numbers stay as they are spelled: it may be written again. */
function jsonIn(file: string): Readonly<Record<string, unknown>> {
  const value = parseJsonAsSpelled(readRegular(file).toString('utf8'));
  return isJsonObject(value) ? value : {};
}

/** The licence that a model's own card names. */
function licenseIn(folder: string): string | null {
  const card = join(folder, 'README.md');
  if (!existsSync(card)) return null;
  const [, head = ''] = /^---\r?\n(.*?)\r?\n---/s.exec(readRegular(card).toString('utf8')) ?? [];
  return /^license:\s*["']?([\w.-]+)["']?\s*$/m.exec(head)?.[1] ?? null;
}

/** Fields in which tools keep where a folder was. */
const NAMES = ['base_model_name_or_path', '_name_or_path', 'name_or_path'];

/** A file of the model as it is, but for folders of this machine. */
function modelFile(folder: string, name: string, base: Base): PushFile {
  const file = join(folder, name);
  if (!/config\.json$/.test(name)) return { path: name, bytes: statSync(file).size, content: { file } };
  const fields = jsonIn(file);
  const placed = NAMES.filter((field) => typeof fields[field] === 'string' && isPlace(String(fields[field])));
  if (placed.length === 0) return { path: name, bytes: statSync(file).size, content: { file } };
  const replaced = Object.fromEntries(placed.map((field) => [field, base.repo ?? base.name]));
  return textFile(name, `${JSON.stringify({ ...fields, ...replaced }, null, 2)}\n`);
}

function isPlace(name: string): boolean {
  return isAbsolute(name) || name.startsWith('.') || /^[A-Za-z]:/.test(name);
}

export function textFile(path: string, text: string): PushFile {
  const content = Buffer.from(text);
  return { path, bytes: content.length, content };
}

export function sorted(files: readonly PushFile[]): readonly PushFile[] {
  return [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
}
