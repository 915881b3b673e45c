/** Where the native backend's TensorFlow comes from. */

import { Button, Checkbox, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Segments } from '../components/Segments.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import classes from './Settings.module.css';

const SOURCES = [
  { value: 'auto', label: 'Best match, via pip' },
  { value: 'own', label: '2.9.1, the package default' },
  { value: 'file', label: 'File or URL' },
] as const;

type Source = (typeof SOURCES)[number]['value'];

export interface NativeFormProps {
  /** Whether it is already set up. */
  readonly again: boolean;
  readonly busy: boolean;
}

export function NativeForm({ again, busy }: NativeFormProps) {
  const { data: engines } = useQuery(api.engines.list.queryOptions());
  // What is loaded into the trainers' processes isn't a browser's to choose, as the servers of engines aren't.
  const mayChoose = engines?.mayLaunch === true;
  const [source, setSource] = useState<Source>('auto');
  const [file, setFile] = useState('');
  const [parts, setParts] = useState({ package: '', addon: '' });
  const [cpu, setCpu] = useState(false);
  const start = useMutation({
    mutationFn: () =>
      client.native.setUp({
        from: source === 'file' ? file.trim() : source,
        package: parts.package.trim() || null,
        addon: parts.addon.trim() || null,
        cpu,
      }),
  });
  return (
    <SubmitForm className={classes.native} onSubmit={() => start.mutate()}>
      <Segments
        aria-label="TensorFlow from"
        data={SOURCES.filter(({ value }) => mayChoose || value !== 'file')}
        value={source}
        onChange={(value) => setSource(value as Source)}
      />
      {source === 'file' && (
        <FileField
          label="Wheel or C library"
          description="A wheel of tensorflow or tensorflow-cpu, or libtensorflow as .tar.gz"
          value={file}
          onChange={setFile}
        />
      )}
      <Checkbox
        label="CPU only"
        description="A smaller library without GPU support"
        checked={cpu}
        onChange={(event) => setCpu(event.currentTarget.checked)}
      />
      {!mayChoose && (
        <p className="soft">
          For another library, a package or an addon of your own, use the desktop app, <code>braid setup-native</code>,
          or <code>braid serve --allow-launchers</code>.
        </p>
      )}
      {mayChoose && (
        <details>
          <summary>If npm or a C++ compiler is missing</summary>
          <FileField
            label="Package"
            description="Tarball of @tensorflow/tfjs-node-gpu 4.22.0; without one, npm fetches it"
            value={parts.package}
            onChange={(value) => setParts({ ...parts, package: value })}
          />
          <FileField
            label="Built addon"
            description="tfjs_binding.node, built against the same TensorFlow; without one, it is compiled here"
            value={parts.addon}
            onChange={(value) => setParts({ ...parts, addon: value })}
          />
        </details>
      )}
      {start.error !== null && <Failed what="The set-up could not be started" error={start.error} />}
      <div className={classes.begin}>
        <Button type="submit" disabled={busy || (source === 'file' && file.trim() === '')} loading={start.isPending}>
          {again ? 'Set up again' : 'Set up'}
        </Button>
        <span className="soft">An existing set-up is kept until the new one works.</span>
      </div>
    </SubmitForm>
  );
}

interface FileFieldProps {
  readonly label: string;
  readonly description: ReactNode;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A path or URL; on the desktop it can be chosen in a dialog. */
function FileField({ label, description, value, onChange }: FileFieldProps) {
  const { data: info } = useQuery(api.app.info.queryOptions());
  const choose = async (): Promise<void> => {
    const [chosen] = await client.app.chooseFiles({ title: label });
    if (chosen !== undefined) onChange(chosen);
  };
  return (
    <div className={classes.file}>
      <TextInput
        label={label}
        description={description}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {info?.dialogs === true && (
        <Button variant="default" onClick={() => void choose()}>
          Choose …
        </Button>
      )}
    </div>
  );
}
