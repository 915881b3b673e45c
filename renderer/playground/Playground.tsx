/**
 * The Playground screen: two texts and up to four models side by side, each completion streamed and aligned with the
 * exact target.
 */
import { Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlayerPlay, IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { useSearch } from 'wouter';
import { api } from '../api/client.ts';
import { Aligned, Legend } from '../components/Aligned.tsx';
import type { WordKind } from '../components/aligned-words.ts';
import { Choice } from '../components/Choice.tsx';
import { Failed } from '../components/Feedback.tsx';
import { modelOptions } from '../components/model-options.ts';
import { NumberField } from '../components/NumberField.tsx';
import { Panel, Screen } from '../components/Screen.tsx';
import { useKeys } from '../frame/keys.tsx';
import { emptyForm, type Form, MAX_LANES, MAX_SAMPLES, useForm } from './form.ts';
import { History } from './History.tsx';
import { useHistory } from './history.ts';
import { LaneView } from './LaneView.tsx';
import classes from './Playground.module.css';
import { meanScore } from './samples.ts';
import { Texts } from './Texts.tsx';
import { type Request, useAnswers } from './use-answers.ts';

export function Playground() {
  const [form, onForm] = useForm();
  const [hidden, setHidden] = useState<ReadonlySet<WordKind>>(new Set());
  const models = useQuery(api.models.list.queryOptions());
  const templates = useQuery(api.datasets.templates.queryOptions());
  const options = useMemo(() => modelOptions(models.data ?? []), [models.data]);
  const { lanes, busy, ask, cancel } = useAnswers();
  const { history, add, clear } = useHistory();
  const text = templates.data?.find(({ name, version }) => `${name} ${version}` === form.template)?.text;
  const request = requestOf(form, text);
  const chosen = form.models.map((ref) =>
    models.data?.some((known) => known.ref === ref && !known.deleted) ? ref : '',
  );
  const missing = missingOf(form, chosen);
  useDefaults(form, models.data, onForm);
  const go = (): void => {
    if (busy) cancel();
    else if (missing === null)
      ask(request, chosen, (ended) => add({ at: Date.now(), form, scores: ended.map(meanScore) }));
  };
  const latest = useRef(go);
  latest.current = go;
  useKeys(useMemo(() => [{ key: 'a', label: 'Generate, or cancel', run: () => latest.current() }], []));
  return (
    <Screen
      title="Playground"
      about={<span>Try your own texts on several models side by side</span>}
      actions={<Legend hidden={hidden} onChange={setHidden} />}
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
          <Texts form={form} onForm={onForm} />
          <Options form={form} onForm={onForm} templates={templates.data ?? []} />
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
      {form.a.trim() !== '' && form.b.trim() !== '' && <TargetLine request={request} />}
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
            lane={lanes[index] ?? null}
            onModel={(ref) => onForm({ models: form.models.map((known, i) => (i === index ? ref : known)) })}
            onRemove={
              form.models.length > 2 && !busy
                ? () => onForm({ models: form.models.filter((_, i) => i !== index) })
                : null
            }
          />
        ))}
      </div>
      <History history={history} onForm={onForm} onClear={clear} />
    </Screen>
  );
}

function requestOf(form: Form, template: string | undefined): Request {
  const { a, b, words, temperature, seed, samples, maxTokens } = form;
  return {
    ...{ a, b, temperature, seed, samples: temperature === 0 ? 1 : samples },
    ...(words !== null && { words }),
    ...(maxTokens !== null && { maxTokens }),
    ...(template !== undefined && { template }),
  };
}

/** What is missing before the models can run; null if nothing. */
function missingOf({ a, b }: Form, chosen: readonly string[]): string | null {
  if (a.trim() === '' || b.trim() === '') return 'Enter both texts, or draw a held-out record.';
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

interface OptionsProps {
  readonly form: Form;
  readonly onForm: (change: Partial<Form>) => void;
  readonly templates: readonly { readonly name: string; readonly version: number }[];
}

function Options({ form, onForm, templates }: OptionsProps) {
  const id = useId();
  const names = templates.map(({ name, version }) => ({
    value: `${name} ${version}`,
    label: `${name}, version ${version}`,
  }));
  return (
    <div className={classes.options}>
      <NumberField
        label="Words per text"
        placeholder="all"
        width={100}
        min={1}
        max={1000}
        value={form.words}
        onChange={(words) => onForm({ words })}
      />
      <span className={classes.template}>
        <label htmlFor={id}>Prompt template</label>
        <Choice
          id={id}
          width={190}
          data={names}
          value={form.template ?? names[0]?.value ?? ''}
          onChange={(template) => onForm({ template })}
        />
      </span>
      <NumberField
        label="Temperature"
        width={100}
        min={0}
        max={5}
        step={0.1}
        value={form.temperature}
        onChange={(temperature) => onForm({ temperature: temperature ?? 0 })}
      />
      <NumberField
        label="Seed"
        width={110}
        min={0}
        max={2 ** 32 - 1}
        disabled={form.temperature === 0}
        value={form.seed}
        onChange={(seed) => onForm({ seed: seed ?? emptyForm.seed })}
      />
      <NumberField
        label="Samples"
        width={80}
        min={1}
        max={MAX_SAMPLES}
        disabled={form.temperature === 0}
        value={form.temperature === 0 ? 1 : form.samples}
        onChange={(samples) => onForm({ samples: samples ?? 1 })}
      />
      <NumberField
        label="Max tokens"
        placeholder="automatic"
        width={110}
        min={1}
        max={32_768}
        value={form.maxTokens}
        onChange={(maxTokens) => onForm({ maxTokens })}
      />
    </div>
  );
}

/** The exact target, or what is wrong with the texts. */
function TargetLine({ request }: { readonly request: Request }) {
  const { a, b, words, template } = request;
  const [input] = useDebouncedValue(
    useMemo(() => ({ a, b, words, template }), [a, b, words, template]),
    150,
  );
  const { data, error } = useQuery(api.playground.prompt.queryOptions({ input, placeholderData: keepPreviousData }));
  if (error !== null) return <Failed what="These texts can't be made into a prompt" error={error} />;
  if (data === undefined) return null;
  return (
    <div className={classes.target}>
      <span className="soft">Target</span>
      <Aligned words={data.alignment.words} label="Target" />
    </div>
  );
}
