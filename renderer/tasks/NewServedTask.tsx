/** A new task for an OpenEnv server: the server is asked what it is, and what it declares becomes the form. */
import { Button, Checkbox, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ServerOffer } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { BoundedNumber } from '../components/BoundedNumber.tsx';
import { Failed } from '../components/Feedback.tsx';
import { Segments } from '../components/Segments.tsx';
import classes from './ServedTask.module.css';
import { ServerFields } from './ServerFields.tsx';

type Created = Parameters<typeof client.tasks.createServed>[0];
/** All but the task's name; null: not ready yet. */
export type ServedChoice = Omit<Created, 'name'> | null;

const WAYS = [
  { value: 'address', label: 'It runs already' },
  { value: 'start', label: 'Braid starts it' },
] as const;
type Way = (typeof WAYS)[number]['value'];

const COUNTS = [
  ['maxTurns', 'Turns of the model', 100],
  ['size', 'Training records', 100_000],
  ['testSize', 'Held-out records', 100_000],
] as const;

export function NewServedTask({ onChange }: { readonly onChange: (choice: ServedChoice) => void }) {
  const [way, setWay] = useState<Way>('address');
  const [server, setServer] = useState({ address: '', start: '' });
  const [form, setForm] = useState<NonNullable<ServedChoice> | null>(null);
  const asked = { ...server, [way === 'address' ? 'start' : 'address']: '' };
  const change = (next: ServedChoice): void => {
    setForm(next);
    onChange(next);
  };
  const read = useMutation({
    mutationFn: (message: string | null) => client.tasks.readServer({ server: asked, message }),
    onSuccess: (offer) => {
      if (offer !== null) change(form === null ? firstForm(asked, offer) : { ...form, server: asked });
    },
  });
  const choose = (changed: Partial<typeof server>): void => {
    setServer({ ...server, ...changed });
    read.reset();
    change(null);
  };
  const offer = read.data ?? null;
  return (
    <>
      <div>
        <Segments
          aria-label="How the server runs"
          data={WAYS}
          value={way}
          onChange={(next) => {
            setWay(next);
            choose({});
          }}
        />
      </div>
      {way === 'address' ? (
        <TextInput
          label="Address"
          description="ws, wss, http or https; a key for it is kept on the task's screen"
          placeholder="ws://127.0.0.1:8000"
          value={server.address}
          onChange={({ currentTarget }) => choose({ address: currentTarget.value })}
          maxLength={2000}
        />
      ) : (
        <TextInput
          label="Command"
          description="Run with your rights, after you agree; {port} becomes a free port of this machine"
          placeholder="python3 -m my_game.server --port {port}"
          value={server.start}
          onChange={({ currentTarget }) => choose({ start: currentTarget.value })}
          maxLength={2000}
        />
      )}
      <div>
        <Button
          variant="default"
          disabled={asked.address.trim() === '' && asked.start.trim() === ''}
          loading={read.isPending}
          onClick={() => read.mutate(form === null ? null : form.forms.message)}
        >
          {offer === null ? 'Ask the server …' : 'Ask again'}
        </Button>
      </div>
      {read.data === null && <p className="soft">You didn't allow it, so nothing was run or sent.</p>}
      {read.error !== null && (
        <Failed
          what="The server was not asked"
          error={read.error}
          onRetry={() => read.mutate(form === null ? null : form.forms.message)}
        />
      )}
      {offer !== null && form !== null && <Offered offer={offer} form={form} onChange={change} />}
    </>
  );
}

function firstForm(server: NonNullable<ServedChoice>['server'], offer: ServerOffer): NonNullable<ServedChoice> {
  const action =
    typeof offer.action === 'string'
      ? null
      : Object.fromEntries(Object.entries(offer.action).map(([name, value]) => [name, String(value)]));
  return { server, forms: { action, message: offer.message }, maxTurns: 8, size: 200, testSize: 48, seed: 42 };
}

interface OfferedProps {
  readonly offer: ServerOffer;
  readonly form: NonNullable<ServedChoice>;
  readonly onChange: (form: NonNullable<ServedChoice>) => void;
}

function Offered({ offer, form, onChange }: OfferedProps) {
  const { forms } = form;
  const setForms = (changed: Partial<typeof forms>): void => onChange({ ...form, forms: { ...forms, ...changed } });
  return (
    <section className={classes.offer} aria-label="What the server declares">
      <p>
        <strong>{offer.name ?? 'A server without a name'}</strong>
        {offer.description !== null && <span className="soft"> {offer.description}</span>}
      </p>
      <h3>An answer becomes an action</h3>
      <Checkbox
        label="The model writes the whole action as JSON"
        checked={forms.action === null}
        onChange={({ currentTarget }) => setForms({ action: currentTarget.checked ? null : {} })}
      />
      <ServerFields
        fields={offer.actions}
        texts={forms.action}
        what="actions"
        onChange={(action) => setForms({ action })}
      />
      {forms.action !== null && (
        <p className="soft">
          <code>{'{completion}'}</code> is the answer; <code>{'{completion:last-number}'}</code>,{' '}
          <code>{'{completion:json}'}</code> or <code>{'{completion:<move>}'}</code> take a part of it. An empty field
          is left out.
        </p>
      )}
      <h3>An observation becomes a message</h3>
      <ServerFields fields={offer.observations} texts={null} what="observations" />
      <Textarea
        label="Message"
        description="With {name} for a field, {observation} for all of it, {reward}, {done} and {state}"
        value={forms.message}
        onChange={({ currentTarget }) => setForms({ message: currentTarget.value })}
        autosize
        minRows={1}
        maxRows={6}
      />
      <p className="soft">
        {offer.isFixed
          ? `An episode with the seed ${form.seed} begins with:`
          : `Two resets with the seed ${form.seed} began differently: it isn't deterministic, and a resumed run may differ. One began with:`}
        {offer.message !== forms.message && ' (by the message before; ask again)'}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by the keyboard too */}
      <pre tabIndex={0} className={classes.beginning}>
        {offer.beginning}
      </pre>
      <div className={classes.counts}>
        {COUNTS.map(([name, label, max]) => (
          <BoundedNumber
            key={name}
            label={label}
            value={form[name]}
            onChange={(value) => onChange({ ...form, [name]: value })}
            min={1}
            max={max}
          />
        ))}
      </div>
    </section>
  );
}
