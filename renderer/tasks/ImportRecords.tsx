/** Records for a task from a file or the Hub: choose it, map its columns to the task's fields, see the prompts, create. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../api/client.ts';
import { ChooseFile } from '../components/ChooseFile.tsx';
import { Failed } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { Panel, Screen } from '../components/Screen.tsx';
import { HostSource } from './HostSource.tsx';
import { HubSource } from './HubSource.tsx';
import classes from './Import.module.css';
import { ImportMapping } from './ImportMapping.tsx';
import { RECORD_FILES, type Source } from './import-source.ts';

export function ImportRecords({ task }: { readonly task: string }) {
  const [source, setSource] = useState<Source | null>(null);
  const upload = useMutation({
    mutationFn: async (file: File): Promise<Source> => {
      const { uploadId } = await client.imports.upload({ name: file.name, content: file });
      return { uploadId, name: file.name, hub: null };
    },
    onSuccess: setSource,
  });
  const back = task === 'reply' ? '/replies' : `/tasks/${task}`;
  return (
    <Screen
      title="Import records"
      about={
        <span>
          for <Link href={back}>{task}</Link>
          {source !== null && `, from ${source.name}`}
        </span>
      }
      actions={
        source !== null && (
          <Button variant="default" onClick={() => setSource(null)}>
            Choose another source
          </Button>
        )
      }
    >
      {source === null ? (
        <div className={classes.sources}>
          <div className={classes.files}>
            <Panel title="A file">
              <p className="soft">
                JSONL, JSON, CSV or parquet, also as .gz or .zst. Nothing is written until you create the dataset.
              </p>
              <ChooseFile
                label="File of records"
                accept={RECORD_FILES}
                loading={upload.isPending}
                onChoose={(file) => upload.mutate(file)}
              >
                Choose a file …
              </ChooseFile>
              {upload.error !== null && <Failed what="The file could not be read" error={upload.error} />}
            </Panel>
            <HostSource onSource={setSource} />
          </div>
          <HubSource onSource={setSource} />
        </div>
      ) : (
        <ImportMapping key={source.uploadId} task={task} source={source} />
      )}
    </Screen>
  );
}
