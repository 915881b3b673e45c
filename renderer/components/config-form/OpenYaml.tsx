/** A configuration from a YAML file, such as the run.yaml of a run: the form then says what the file says. */
import { Button } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { client } from '../../api/client.ts';
import { Failed } from '../Feedback.tsx';
import classes from './ConfigForm.module.css';
import type { Values } from './sections.ts';

export interface OpenYamlProps {
  readonly onOpen: (fields: Values) => void;
}

export function OpenYaml({ onOpen }: OpenYamlProps) {
  const chooser = useRef<HTMLInputElement>(null);
  const read = useMutation({
    mutationFn: async (file: File) => client.config.read({ name: file.name, text: await file.text() }),
    onSuccess: onOpen,
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconFileImport size={14} aria-hidden="true" />}
        loading={read.isPending}
        onClick={() => chooser.current?.click()}
      >
        Open YAML …
      </Button>
      <input
        ref={chooser}
        type="file"
        hidden
        aria-label="Configuration to open"
        accept=".yaml,.yml"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file !== undefined) read.mutate(file);
          currentTarget.value = '';
        }}
      />
      {read.error !== null && (
        <div className={classes.unread}>
          <Failed what="The file was not taken over" error={read.error} />
        </div>
      )}
    </>
  );
}
