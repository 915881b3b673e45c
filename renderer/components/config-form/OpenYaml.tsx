/** Loads a configuration from a YAML file, such as a run's run.yaml, into the form. */
import { useMutation } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { ChooseFile } from '../ChooseFile.tsx';
import { Failed } from '../Feedback.tsx';
import classes from './ConfigForm.module.css';
import type { Values } from './sections.ts';

export interface OpenYamlProps {
  readonly onOpen: (fields: Values) => void;
}

export function OpenYaml({ onOpen }: OpenYamlProps) {
  const read = useMutation({
    mutationFn: async (file: File) => client.config.read({ name: file.name, text: await file.text() }),
    onSuccess: onOpen,
  });
  return (
    <>
      <ChooseFile label="Configuration to open" accept=".yaml,.yml" loading={read.isPending} onChoose={read.mutate}>
        Open YAML …
      </ChooseFile>
      {read.error !== null && (
        <div className={classes.unread}>
          <Failed what="The file could not be loaded" error={read.error} />
        </div>
      )}
    </>
  );
}
