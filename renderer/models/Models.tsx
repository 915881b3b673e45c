/** The Models screen: models and checkpoints to train from and compare, their details, adding and download. */
import { Button, Switch, TextInput } from '@mantine/core';
import { IconDownload, IconFolderOpen } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { ModelEntry } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { JobProgress } from '../components/JobProgress.tsx';
import { Panel, Screen } from '../components/Screen.tsx';
import { useKeys } from '../frame/keys.tsx';
import { Add } from './Add.tsx';
import { Download } from './Download.tsx';
import { ModelDetails } from './ModelDetails.tsx';
import { ModelList } from './ModelList.tsx';
import classes from './Models.module.css';
import { modelLines, neighbour } from './model-rows.ts';

const JOB_KINDS = ['model-download', 'model-import', 'model-export', 'model-push'];

const EXPORTED = {
  kind: 'model-export',
  words: 'The model is in the list. Its notice says how it answers, compared with the original.',
};

export function Models() {
  const { data, error, refetch } = useQuery(api.models.list.queryOptions());
  const [dialog, setDialog] = useState<'add' | 'download' | null>(null);
  const [wanted, setWanted] = useState('');
  useKeys(
    useMemo(
      () => [
        { key: 'i', label: 'Add from this computer', run: () => setDialog('add') },
        { key: 'd', label: 'Download from the Hub', run: () => setDialog('download') },
      ],
      [],
    ),
  );
  return (
    <Screen
      title="Models"
      about={<span>Hugging Face models, and checkpoints of runs</span>}
      actions={
        <>
          <Button
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden="true" />}
            onClick={() => setDialog('download')}
          >
            Download …
          </Button>
          <Button
            variant="default"
            leftSection={<IconFolderOpen size={14} aria-hidden="true" />}
            onClick={() => setDialog('add')}
          >
            Add from this computer …
          </Button>
        </>
      }
    >
      <JobProgress kinds={JOB_KINDS} done={EXPORTED} />
      {error !== null && <Failed what="The models can't be listed" error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading what="the models" />}
      {data !== undefined && <Listed models={data} />}
      {dialog === 'add' && (
        <Add
          onClose={() => setDialog(null)}
          onDownload={(repo) => {
            setWanted(repo);
            setDialog('download');
          }}
        />
      )}
      {dialog === 'download' && (
        <Download
          start={wanted}
          onClose={() => {
            setWanted('');
            setDialog(null);
          }}
        />
      )}
    </Screen>
  );
}

function Listed({ models }: { readonly models: readonly ModelEntry[] }) {
  const { data: sizes } = useQuery(api.models.sizes.queryOptions());
  const [, navigate] = useLocation();
  const asked = new URLSearchParams(useSearch()).get('model');
  const [search, setSearch] = useState('');
  const [deleted, setDeleted] = useState(false);
  const lines = useMemo(() => modelLines(models, { search, deleted }), [models, search, deleted]);
  const chosen = models.find(({ ref }) => ref === asked) ?? models[0] ?? null;
  const choose = (ref: string): void => navigate(`/models?${new URLSearchParams({ model: ref })}`, { replace: true });
  const go = (by: number): void => {
    const next = neighbour(lines, chosen?.ref ?? null, by);
    if (next !== null) choose(next);
  };
  const latest = useRef(go);
  latest.current = go;
  useKeys(
    useMemo(
      () => [
        { key: 'j', label: 'Next model', run: () => latest.current(1) },
        { key: 'k', label: 'Previous model', run: () => latest.current(-1) },
      ],
      [],
    ),
  );
  const gone = models.filter((entry) => entry.deleted).length;
  return (
    <div className={classes.columns}>
      <Panel>
        <div className={classes.tools}>
          <TextInput
            aria-label="Search models"
            placeholder="Search"
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
          {gone > 0 && (
            <Switch
              label={`Show ${gone} deleted`}
              checked={deleted}
              onChange={(event) => setDeleted(event.currentTarget.checked)}
            />
          )}
        </div>
        <ModelList lines={lines} sizes={sizes} chosen={chosen?.ref ?? null} onChoose={choose} />
      </Panel>
      {chosen !== null && <ModelDetails key={chosen.ref} entry={chosen} />}
    </div>
  );
}
