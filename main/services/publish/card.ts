/** A model card: what the Hub shows of a pushed model, made from its run. Nothing of it is read as HTML or as a link. */
import { stringify } from 'yaml';
import { wholeText } from '../../samples/completion.ts';
import type { EvaluationRow } from '../../store/evaluations.ts';
import { counted, formatDuration } from '../../text/format.ts';
import { inline } from '../../text/markdown.ts';
import { VERSION } from '../../version.ts';
import { LEFT_OUT } from '../reports/private-parts.ts';
import type { RunContent } from '../reports/report.ts';
import type { SampleView } from '../runs/samples/samples.ts';

export interface CardSubject {
  /** `owner/name`. */
  readonly repo: string;
  readonly kind: 'adapter' | 'model';
  /** The trained model's step; null: the newest of the run. */
  readonly step: number | null;
  readonly base: { readonly name: string; readonly repo: string | null };
  /** Whether the base reads images or sound too: its decoder alone was trained. */
  readonly isTextPart: boolean;
  /** An identifier of the Hub, such as apache-2.0; null: it isn't known. */
  readonly license: string | null;
  /** The pushed GGUF file's name. */
  readonly gguf: string | null;
  readonly curves: readonly { readonly file: string; readonly title: string }[];
  /** The run as one HTML file beside the card; null: it isn't pushed. */
  readonly report: string | null;
}

/** The card's Markdown. `run`: without paths, keys and texts that stay here; null: nothing is known of its training. */
export function modelCard(subject: CardSubject, run: RunContent | null): string {
  const [, name = subject.repo] = subject.repo.split('/');
  const parts = [
    `# ${inline(name)}`,
    opening(subject, run),
    ...(run === null ? [] : [results(subject, run), curves(subject), data(run), configuration(run)]),
    loading(subject),
    ...(run === null ? [] : [samples(subject, run), repeating(run)]),
  ];
  return `${frontMatter(subject, run)}\n${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function frontMatter({ repo, kind, base, license, step }: CardSubject, run: RunContent | null): string {
  const [before, after] = heldOut(run, step);
  const [, name = repo] = repo.split('/');
  const metrics = after === undefined ? [] : scores(after);
  const fields = {
    ...(license !== null && { license }),
    ...(base.repo !== null && { base_model: base.repo }),
    library_name: kind === 'adapter' ? 'peft' : 'transformers',
    pipeline_tag: 'text-generation',
    tags: ['braid', ...(run === null ? [] : [run.detail.method]), ...(kind === 'adapter' ? ['lora'] : [])],
    ...(run !== null &&
      metrics.length > 0 && {
        'model-index': [
          {
            name,
            results: [
              {
                task: { type: 'text-generation', name: run.detail.task },
                dataset: { name: heldOutName(run), type: heldOutName(run) },
                metrics: metrics.map(({ label, value }) => ({
                  type: label,
                  value: Number(value.toFixed(4)),
                  name: `held-out ${label}`,
                })),
              },
            ],
          },
        ],
      }),
  };
  return `---\n${cardFields(fields)}---${before === undefined ? '' : '\n'}`;
}

/** For readers of YAML 1.1 too, as the Hub's Python client is: to them a bare `2026-11-29` or `no` isn't a text. */
export function cardFields(fields: Readonly<Record<string, unknown>>): string {
  return stringify(fields, { version: '1.1' });
}

function opening({ kind, base }: CardSubject, run: RunContent | null): string {
  const of = base.repo === null ? inline(base.name) : `[${inline(base.repo)}](https://huggingface.co/${base.repo})`;
  const what = kind === 'adapter' ? `A LoRA adapter for ${of}` : `A model trained from ${of}`;
  if (run === null) return `${what}, written by Braid ${VERSION}. How it was trained isn't known here.`;
  const { method, task, standing } = run.detail;
  const { title, sentences } = run.standing.verdict;
  const outcome = standing === null ? `${title}: ${sentences.join(' ')}` : `${standing.sentence}.`;
  const methods = [...run.earlierMethods, method];
  const how = methods.filter((one, i) => one !== methods[i - 1]).map(methodInWords);
  return `${what}${kind === 'adapter' ? ', trained' : ''} by ${inline(how.join(', then by '))} on the task ${code(task)} with Braid ${VERSION}. ${inline(capital(outcome))}`;
}

function methodInWords(method: string): string {
  return method.replaceAll('-', ' ').replace('sft', 'supervised fine-tuning').replace('grpo', 'GRPO');
}

/** The evaluation before training and the one of the pushed step, or the newest before it. */
function heldOut(run: RunContent | null, step: number | null): readonly (EvaluationRow | undefined)[] {
  const all = [...(run?.detail.evaluations ?? [])].sort((a, b) => a.step - b.step);
  return [
    all.find((row) => row.step === 0),
    all.findLast((row) => row.step > 0 && row.step <= (step ?? Number.POSITIVE_INFINITY)),
  ];
}

function heldOutName(run: RunContent): string {
  return run.files.find(({ what }) => what === 'held-out records')?.name ?? 'held-out records';
}

function scores({ metrics }: EvaluationRow): readonly { readonly label: string; readonly value: number }[] {
  return Object.entries(metrics)
    .filter(([, value]) => Number.isFinite(value))
    .map(([name, value]) => ({ label: name.replace(/^eval_/, '').replaceAll('_', ' '), value }));
}

function results({ step }: CardSubject, run: RunContent): string {
  const [before, after] = heldOut(run, step);
  if (after === undefined) return '## Results\n\nIt was not evaluated on held-out records during training.';
  const columns = [...(before === undefined ? [] : [before]), after];
  const head = ['held out', ...columns.map((row) => (row.step === 0 ? 'before' : `step ${row.step}`))];
  const rows = scores(after).map(({ label, value }) => [
    label,
    ...columns.map((row) => {
      const own = scores(row).find((score) => score.label === label)?.value;
      return own === undefined ? '–' : value === after.mean ? interval(row) : own.toFixed(3);
    }),
  ]);
  const note = `${counted(after.n, 'record')} of ${code(heldOutName(run))}, never trained on; intervals of 95% by bootstrap over the records.`;
  return `## Results\n\n${table([head, ...rows])}\n\n${note}`;
}

/** Of the main metric. */
function interval({ mean, low, high }: EvaluationRow): string {
  const value = `**${mean.toFixed(3)}**`;
  return low === null || high === null ? value : `${value} [${low.toFixed(3)}, ${high.toFixed(3)}]`;
}

function curves({ curves: files, report }: CardSubject): string {
  const images = files.map(({ file, title }) => `![${title}](${file})`).join('\n\n');
  const whole =
    report === null ? '' : `\n\nThe whole run, with its completions, opens in a browser from [${report}](${report}).`;
  return images === '' && whole === '' ? '' : `## Training\n\n${images}${whole}`.trim();
}

function data(run: RunContent): string {
  const rows = run.files.map(({ name, what, sha256 }) => [what, code(name), sha256 === null ? 'gone' : code(sha256)]);
  return `## Data\n\n${table([['', 'file', 'SHA-256'], ...rows])}`;
}

/** Paths are without their folders by now, and say nothing to others. */
const PLACES = ['model', 'dataset', 'eval_dataset', 'from_checkpoint', 'logging_dir', 'engine'];

function configuration(run: RunContent): string {
  const { config } = run.detail;
  const changed = Object.entries(config).filter(
    ([name, value]) => !PLACES.includes(name) && JSON.stringify(value) !== JSON.stringify(run.defaults[name]),
  );
  const rows = changed.map(([name, value]) => [code(name), code(JSON.stringify(value))]);
  const spent = run.cost.spent.seconds;
  const time = Number.isFinite(spent) && spent > 0 ? ` It took ${formatDuration(Math.ceil(spent))} of training.` : '';
  return `## Configuration\n\nWhat differs from Braid's defaults:\n\n${table([['field', 'value'], ...rows])}\n\nTrained on the ${inline(run.detail.backend ?? 'unknown')} backend.${time}`;
}

/** Whole models have other names of layers: PEFT would leave out all of the adapter, or refuse it. */
function decoderOf(from: string): readonly string[] {
  return [
    `whole = AutoModelForImageTextToText.from_pretrained(${from})`,
    'with torch.device("meta"):',
    '    base = AutoModelForCausalLM.from_config(whole.config.get_text_config())',
    'base.model, base.lm_head = whole.model.language_model, whole.lm_head',
  ];
}

function loading({ repo, kind, base, gguf, isTextPart }: CardSubject): string {
  const from = JSON.stringify(base.repo ?? base.name);
  const python =
    kind === 'adapter'
      ? [
          ...(isTextPart ? ['import torch'] : []),
          'from peft import PeftModel',
          `from transformers import AutoModelForCausalLM, ${isTextPart ? 'AutoModelForImageTextToText, ' : ''}AutoTokenizer`,
          '',
          ...(isTextPart ? decoderOf(from) : [`base = AutoModelForCausalLM.from_pretrained(${from})`]),
          `model = PeftModel.from_pretrained(base, ${JSON.stringify(repo)})`,
        ]
      : [
          'from transformers import AutoModelForCausalLM, AutoTokenizer',
          '',
          `model = AutoModelForCausalLM.from_pretrained(${JSON.stringify(repo)})`,
        ];
  const tokenizer = `tokenizer = AutoTokenizer.from_pretrained(${JSON.stringify(repo)})`;
  const ollama =
    gguf === null
      ? 'For Ollama and llama.cpp, make a GGUF file: `braid merge --model FOLDER --output merged --gguf q8_0`, then `ollama create NAME -f merged/Modelfile`.'
      : `With Ollama: \`ollama run hf.co/${repo}\`. With llama.cpp: \`llama-cli -m ${gguf}\`.`;
  return `## Loading\n\n${fenced([...python, tokenizer].join('\n'), 'python')}\n\n${ollama}`;
}

function samples(subject: CardSubject, { steps }: RunContent): string {
  const last = steps.findLast(({ step }) => step <= (subject.step ?? Number.POSITIVE_INFINITY));
  if (last === undefined || last.best.completion === LEFT_OUT) return '';
  const shown = (title: string, sample: SampleView): string =>
    `${title}, reward ${sample.reward.toFixed(3)}:\n\n${fenced(`${sample.prompt}\n\n→ ${wholeText(sample)}`)}`;
  const worst = last.worst === null ? [] : [shown('The worst', last.worst)];
  return ['## Samples', `Of step ${last.step}.`, shown('The best', last.best), ...worst].join('\n\n');
}

function repeating({ commands }: RunContent): string {
  return `## Repeating it\n\n${fenced(commands.join('\n'), 'sh')}\n\n\`run.yaml\` is in this repository.`;
}

function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** A block of code whose end the text can't write. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
