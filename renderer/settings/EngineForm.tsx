/** An engine's name, address, model and prices. */
import { Button, Checkbox, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { EngineView } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { NumberEntry } from '../components/NumberEntry.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import { LauncherForm } from './LauncherForm.tsx';
import { fieldsOf, isComplete as isWhole, launcherFrom } from './launcher-form.ts';
import classes from './Settings.module.css';

export interface EngineFormProps {
  /** null: a new one. */
  readonly engine: EngineView | null;
  /** Whether this page may say how its server is started. */
  readonly mayLaunch: boolean;
  readonly onDone: () => void;
}

const PRICES = [
  ['prefill', 'Reading'],
  ['sample', 'Sampling'],
  ['train', 'Training'],
] as const;

export function EngineForm({ engine, mayLaunch, onDone }: EngineFormProps) {
  const queries = useQueryClient();
  const [fields, setFields] = useState({
    name: engine?.name ?? '',
    url: engine?.url ?? '',
    baseModel: engine?.baseModel ?? '',
    allowPlain: engine?.allowPlain ?? false,
  });
  const [prices, setPrices] = useState(engine?.prices ?? { prefill: 0, sample: 0, train: 0 });
  const [confirmed, setConfirmed] = useState(engine?.allowPlain ?? false);
  const [launcher, setLauncher] = useState(() => fieldsOf(engine?.launcher ?? null));
  const save = useMutation({
    mutationFn: () => {
      const priced = Object.values(prices).some((price) => price > 0);
      return client.engines.save({
        ...fields,
        allowPlain: fields.allowPlain && confirmed,
        prices: priced ? prices : null,
        ...(mayLaunch && { launcher: launcherFrom(launcher) }),
      });
    },
    onSuccess: (now) => {
      queries.setQueryData(api.engines.list.queryKey(), now);
      onDone();
    },
  });
  const text = (name: 'name' | 'url' | 'baseModel', label: string, placeholder: string) => (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={fields[name]}
      readOnly={name === 'name' && engine !== null}
      onChange={(event) => setFields({ ...fields, [name]: event.currentTarget.value })}
    />
  );
  const entered = JSON.stringify([fields, prices, confirmed, launcher]);
  const [first] = useState(entered);
  const { ask, question } = useDiscardQuestion({ isChanged: () => entered !== first, close: onDone });
  const isComplete =
    [fields.name, fields.url, fields.baseModel].every((value) => value.trim() !== '') && isWhole(launcher);
  const isUnconfirmed = fields.allowPlain && !confirmed;
  return (
    <SubmitForm className={classes.fields} aria-label="Engine" onSubmit={() => save.mutate()}>
      {text('name', 'Name', 'cluster')}
      {text('url', 'Address', 'https://… or http://127.0.0.1:8000')}
      {text('baseModel', 'Model there', 'Qwen/Qwen3-0.6B')}
      {PRICES.map(([kind, label]) => (
        <NumberEntry
          key={kind}
          label={`${label}, per million tokens`}
          min={0}
          step={0.01}
          value={prices[kind]}
          onChange={(value) => setPrices({ ...prices, [kind]: value ?? 0 })}
        />
      ))}
      {mayLaunch ? (
        <LauncherForm fields={launcher} onChange={setLauncher} />
      ) : (
        <p className={`${classes.wide} ${classes.about}`}>
          How its server is started can be changed in the desktop app, by <code>braid engine launcher</code>, or here
          with <code>braid serve --allow-launchers</code>.
        </p>
      )}
      <div className={classes.wide}>
        <Checkbox
          label="Allow plain http to another machine"
          checked={fields.allowPlain}
          onChange={(event) => setFields({ ...fields, allowPlain: event.currentTarget.checked })}
        />
        {fields.allowPlain && (
          <Checkbox
            mt={4}
            label="Yes: the key and every prompt may be readable on the way"
            checked={confirmed}
            onChange={(event) => setConfirmed(event.currentTarget.checked)}
          />
        )}
      </div>
      <div className={`${classes.wide} ${classes.path}`}>
        <Button type="submit" disabled={!isComplete || isUnconfirmed} loading={save.isPending}>
          Save
        </Button>
        <Button variant="default" onClick={() => ask(onDone)}>
          Cancel
        </Button>
        {isUnconfirmed && (
          <span className="soft">Confirm that plain http may be read on the way, or don't allow it.</span>
        )}
      </div>
      {save.error !== null && (
        <div className={classes.wide}>
          <Failed what="The engine was not saved" error={save.error} />
        </div>
      )}
      {question}
    </SubmitForm>
  );
}
