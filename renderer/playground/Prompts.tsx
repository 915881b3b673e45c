/**
 * The Playground's prompts: up to four models side by side on the same prompt, each completion streamed. Two texts are aligned
 * with their exact target; a record of a task gets its reward, and a conversation where the task has an environment.
 */
import { Button } from '@mantine/core';
import { IconPlayerPlay, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { useSearch } from 'wouter';
import { api } from '../api/client.ts';
import { Legend } from '../components/Aligned.tsx';
import type { WordKind } from '../components/aligned-words.ts';
import { Failed } from '../components/Feedback.tsx';
import { hostNow } from '../components/host-time.ts';
import { modelOptions } from '../components/model-options.ts';
import { Panel, Screen } from '../components/Screen.tsx';
import { useKeys } from '../frame/keys.tsx';
import { emptyForm, type Form, MAX_LANES, type RecordsFrom } from './form.ts';
import { History } from './History.tsx';
import { answersOf, lanesOf, useHistory } from './history.ts';
import { LaneView } from './LaneView.tsx';
import { Options, Sampling } from './Options.tsx';
import classes from './Playground.module.css';
import { Record, useRecord } from './Record.tsx';
import { meanScore } from './samples.ts';
import { TargetLine } from './TargetLine.tsx';
import { Texts } from './Texts.tsx';
import { type Lane, type Request, useAnswers } from './use-answers.ts';

export interface PromptsProps {
  readonly form: Form & { readonly mode: 'texts' | 'record' };
  readonly onForm: (change: Partial<Form>) => void;
  /** The choice between the kinds of prompts. */
  readonly modes: ReactNode;
}

export function Prompts({ form, onForm, modes }: PromptsProps) {
  const [hidden, setHidden] = useState<ReadonlySet<WordKind>>(new Set());
  const models = useQuery(api.models.list.queryOptions());
  const templates = useQuery(api.datasets.templates.queryOptions());
  const options = useMemo(() => modelOptions(models.data ?? []), [models.data]);
  const { lanes, busy, ask, cancel, show } = useAnswers();
  const { data: info } = useQuery(api.app.info.queryOptions());
  const { history, add, clear } = useHistory(info?.workspace);
  const tasks = useQuery(api.tasks.list.queryOptions({ enabled: form.mode === 'record' }));
  const usable = useMemo(() => (tasks.data ?? []).filter(({ problem }) => problem === null), [tasks.data]);
  const { from, record } = useRecord(form);
  const text = templates.data?.find(({ name, version }) => `${name} ${version}` === form.template)?.text;
  const request = requestOf(form, text, from);
  const chosen = form.models.map((ref) =>
    models.data?.some((known) => known.ref === ref && !known.deleted) ? ref : '',
  );
  const missing = missingOf(form, chosen, record.data !== undefined && record.error === null);
  useDefaults(form, models.data, onForm);
  useTaskDefault(form, usable, onForm);
  const go = (): void => {
    if (busy) cancel();
    else if (missing === null)
      ask(request, chosen, (ended) =>
        add({ at: hostNow(), form, scores: ended.map(meanScore), answers: answersOf(ended) }),
      );
  };
  const latest = useRef(go);
  latest.current = go;
  useKeys(useMemo(() => [{ key: 'a', label: 'Generate, or cancel', run: () => latest.current() }], []));
  return (
    <Screen
      title="Playground"
      about={<span>{ABOUT[form.mode]}</span>}
      actions={
        <>
          {form.mode === 'texts' && <Legend hidden={hidden} onChange={setHidden} />}
          {modes}
        </>
      }
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Ctrl+Enter submits from any field, as in mail programs */}
      <div
        className={classes.form}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          go();
        }}
      >
        <Panel>
          {form.mode === 'texts' ? (
            <>
              <Texts form={form} onForm={onForm} />
              <Options form={form} onForm={onForm} templates={templates.data ?? []} />
            </>
          ) : (
            <>
              <Record form={form} onForm={onForm} tasks={usable} />
              <div className={classes.options}>
                <Sampling form={form} onForm={onForm} />
              </div>
            </>
          )}
        </Panel>
        <div className={classes.go}>
          <Button
            color={busy ? 'gray' : 'teal'}
            disabled={!busy && missing !== null}
            leftSection={busy ? null : <IconPlayerPlay size={14} aria-hidden="true" />}
            onClick={go}
          >
            {busy ? 'Cancel' : 'Generate'}
          </Button>
          <span className="soft" role="status">
            {busy ? 'Generating …' : (missing ?? 'Ctrl+Enter')}
          </span>
          <span className={classes.gap} />
          {form.models.length < MAX_LANES && (
            <Button
              variant="default"
              leftSection={<IconPlus size={14} aria-hidden="true" />}
              onClick={() => onForm({ models: [...form.models, ''] })}
            >
              Add model
            </Button>
          )}
        </div>
      </div>
      {request.kind === 'texts' && form.a.trim() !== '' && form.b.trim() !== '' && <TargetLine request={request} />}
      {tasks.error !== null && (
        <Failed what="The tasks can't be listed" error={tasks.error} onRetry={() => void tasks.refetch()} />
      )}
      {models.error !== null && (
        <Failed what="The models can't be listed" error={models.error} onRetry={() => void models.refetch()} />
      )}
      <div className={classes.lanes} style={{ gridTemplateColumns: `repeat(${form.models.length}, minmax(0, 1fr))` }}>
        {form.models.map((_, index) => (
          <LaneView
            // biome-ignore lint/suspicious/noArrayIndexKey: lanes are identified by position only
            key={index}
            number={index + 1}
            {...{ options, hidden }}
            model={chosen[index] ?? ''}
            lane={laneOf(lanes[index] ?? null, form.mode, form.models[index])}
            about={APPEARS[form.mode]}
            onModel={(ref) => onForm({ models: form.models.map((known, i) => (i === index ? ref : known)) })}
            onRemove={
              form.models.length > 2 && !busy
                ? () => onForm({ models: form.models.filter((_, i) => i !== index) })
                : null
            }
          />
        ))}
      </div>
      <History
        history={history}
        onAsked={(asked) => {
          onForm(asked.form);
          show(lanesOf(asked));
        }}
        onClear={clear}
      />
    </Screen>
  );
}

const ABOUT = {
  texts: 'Try your own texts on several models side by side',
  record: 'See what models make of a record, and what it is worth',
} as const;

const APPEARS = {
  texts: 'The completion appears here, aligned word by word with the target.',
  record: 'The completion appears here, turn by turn where the task has an environment, with its reward.',
} as const;

/** Completions of another model, or of the other kind of prompt, aren't shown below this one. */
function laneOf(lane: Lane | null, mode: Form['mode'], model: string | undefined): Lane | null {
  return lane === null || lane.model !== model || lane.answers.some(({ kind }) => kind !== mode) ? null : lane;
}

function requestOf(form: Form, template: string | undefined, from: RecordsFrom | undefined): Request {
  const { a, b, words, task, index, temperature, seed, samples, maxTokens, stop } = form;
  const sampling = {
    temperature,
    seed,
    samples: temperature === 0 ? 1 : samples,
    ...(maxTokens !== null && { maxTokens }),
    ...(stop.length > 0 && { stop: [...stop] }),
  };
  if (form.mode === 'record')
    return { kind: 'record', task, index, from: from ?? { datasetId: null, side: 'train' }, ...sampling };
  return {
    kind: 'texts',
    a,
    b,
    ...sampling,
    ...(words !== null && { words }),
    ...(template !== undefined && { template }),
  };
}

/** What is missing before the models can run; null if nothing. */
function missingOf({ mode, a, b }: Form, chosen: readonly string[], hasRecord: boolean): string | null {
  if (mode === 'record' && !hasRecord) return 'Choose a record.';
  if (mode === 'texts' && (a.trim() === '' || b.trim() === '')) return 'Enter both texts, or draw a held-out record.';
  return chosen.every((ref) => ref === '') ? 'Choose a model.' : null;
}

/** A sensible default: the bundled model against the newest checkpoint, or the one in a link, `#/playground?model=…`. */
function useDefaults(
  form: Form,
  models: readonly { readonly ref: string; readonly kind: string; readonly problem: string | null }[] | undefined,
  onForm: (change: Partial<Form>) => void,
): void {
  const asked = new URLSearchParams(useSearch()).get('model');
  const untouched = form.models.every((ref) => ref === '') && form.models.length === emptyForm.models.length;
  const done = useRef<string | null>(null);
  useEffect(() => {
    const wanted = asked ?? '';
    if (models === undefined || done.current === wanted || (asked === null && !untouched)) return;
    done.current = wanted;
    const usable = models.filter(({ problem }) => problem === null);
    const base = usable.find(({ kind, ref }) => kind !== 'checkpoint' && ref !== asked)?.ref ?? '';
    const trained = usable.find(({ kind, ref }) => (asked === null ? kind === 'checkpoint' : ref === asked))?.ref ?? '';
    onForm({ models: [base, trained] });
  }, [models, asked, untouched, onForm]);
}

/** The task in a link, `#/playground?task=…`; by default the first with an environment, which no other screen plays. */
function useTaskDefault(
  { mode, task }: Form,
  tasks: readonly { readonly name: string; readonly maxTurns: number | null }[],
  onForm: (change: Partial<Form>) => void,
): void {
  const asked = new URLSearchParams(useSearch()).get('task');
  const done = useRef<string | null>(null);
  useEffect(() => {
    if (asked === null || done.current === asked) return;
    done.current = asked;
    onForm({ mode: 'record', task: asked, from: null, index: 0 });
  }, [asked, onForm]);
  useEffect(() => {
    if (mode !== 'record' || tasks.length === 0 || tasks.some(({ name }) => name === task)) return;
    const first = tasks.find(({ maxTurns }) => maxTurns !== null) ?? tasks[0];
    onForm({ task: first?.name ?? '', from: null, index: 0 });
  }, [mode, task, tasks, onForm]);
}
