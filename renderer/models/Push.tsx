/** Pushes a model with its card to the Hugging Face Hub: first every file is shown, then it is sent. */
import { Checkbox, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ModelEntry, PushPreview } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { DialogForm, type DialogProps } from '../components/DialogForm.tsx';
import { bytes, counted } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import classes from './Models.module.css';
import { EMPTY_PUSH, type PushForm, pushOf } from './push-form.ts';

export function Push({ entry, onClose }: DialogProps & { readonly entry: ModelEntry }) {
  const [form, setForm] = useState(EMPTY_PUSH);
  const [preview, setPreview] = useState<PushPreview | null>(null);
  const change = (part: Partial<PushForm>): void => {
    setForm({ ...form, ...part });
    setPreview(null);
  };
  const discard = useDiscardQuestion({ isChanged: () => form !== EMPTY_PUSH, close: onClose });
  const go = useMutation({
    mutationFn: async () => {
      const asked = pushOf(entry, form);
      if (preview === null) return setPreview(await client.models.previewPush(asked));
      await client.models.push({ ...asked, isPublic: form.isPublic });
      onClose();
    },
  });
  const unknown = (option: PushPreview['notes'][number]['option']): string | undefined =>
    preview?.notes.find((note) => note.option === option)?.message;
  return (
    <DialogForm
      onClose={onClose}
      title={`Push ${entry.name} to the Hub`}
      action={preview === null ? 'Show what is sent' : 'Push'}
      what={preview === null ? 'What would be sent could not be collected' : 'The push could not be started'}
      disabled={form.repo.trim() === ''}
      discard={discard}
      mutation={go}
      size="xl"
    >
      <p>
        Sends the {entry.kind === 'checkpoint' ? 'checkpoint' : 'model'} with a card, its curves, configuration and
        report. A new repository is private. What is there already isn't sent again.
        {entry.kind === 'checkpoint' && ' For a merged model, export it first and push the export.'}
      </p>
      <Token />
      <TextInput
        label="Repository"
        description="Made if there is none"
        placeholder="owner/name"
        value={form.repo}
        onChange={(event) => change({ repo: event.currentTarget.value })}
        data-autofocus
      />
      {entry.run === null && (
        <TextInput
          label="Run"
          description={unknown('run') ?? 'The number of the run that made it, for the card'}
          inputMode="numeric"
          value={form.run}
          onChange={(event) => change({ run: event.currentTarget.value.replace(/\D/g, '') })}
        />
      )}
      <TextInput
        label="Licence"
        description={unknown('license') ?? "As the Hub names it; empty: the base model's"}
        placeholder="apache-2.0"
        value={form.license}
        onChange={(event) => change({ license: event.currentTarget.value })}
      />
      <TextInput
        label="Base model"
        description={unknown('base-model') ?? 'Its name on the Hub; empty: as its folder says'}
        placeholder="HuggingFaceTB/SmolLM2-135M-Instruct"
        value={form.baseModel}
        onChange={(event) => change({ baseModel: event.currentTarget.value })}
      />
      <Checkbox
        label="With prompts, targets, completions and notes"
        checked={form.texts}
        onChange={(event) => change({ texts: event.currentTarget.checked })}
      />
      <Checkbox
        label="Public: everybody may read it"
        checked={form.isPublic}
        onChange={(event) => change({ isPublic: event.currentTarget.checked })}
      />
      {preview !== null && <Sent preview={preview} />}
    </DialogForm>
  );
}

function Token() {
  const { data: access } = useQuery(api.models.hubAccess.queryOptions());
  if (access === undefined || access.source !== null) return null;
  return (
    <p role="note">
      There is no token of Hugging Face here. Make one with write access on the Hub, and give it in{' '}
      <Link href="/settings">Settings</Link>.
    </p>
  );
}

function Sent({ preview: { repo, files, card } }: { readonly preview: PushPreview }) {
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    <section aria-label="What is sent">
      <h3 className={classes.part}>
        {counted(files.length, 'file')}, {bytes(total)}, to {repo}
      </h3>
      <table className={classes.files}>
        <tbody>
          {files.map((file) => (
            <tr key={file.path}>
              <th scope="row" className="mono">
                {file.path}
              </th>
              <td className="mono">{bytes(file.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h3 className={classes.part}>The card</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <pre className={classes.card} tabIndex={0}>
        {card}
      </pre>
    </section>
  );
}
