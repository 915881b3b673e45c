/** One dataset: its records, searchable, and its details. */
import { Button, CloseButton, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { DatasetDetail } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel, Screen } from '../components/Screen.tsx';
import { Segments } from '../components/Segments.tsx';
import { useKeys } from '../frame/keys.tsx';
import { DatasetFacts } from './DatasetFacts.tsx';
import { RecordList } from './RecordList.tsx';
import { RemoveDataset } from './RemoveDataset.tsx';
import classes from './Texts.module.css';

export function Dataset({ datasetId }: { readonly datasetId: number }) {
  const { data, error, refetch } = useQuery(api.datasets.get.queryOptions({ input: { id: datasetId } }));
  const [deleting, setDeleting] = useState(false);
  const [, navigate] = useLocation();
  if (data === undefined)
    return (
      <Screen title="Dataset">
        {error === null ? (
          <Loading what="the dataset" />
        ) : (
          <Failed what="The dataset can't be shown" error={error} onRetry={() => void refetch()} />
        )}
        <p>
          <Link href="/texts/datasets">All datasets</Link>
        </p>
      </Screen>
    );
  return (
    <Screen
      title={data.name}
      about={<Link href="/texts/datasets">All datasets</Link>}
      actions={
        <Button variant="default" onClick={() => setDeleting(true)}>
          Delete …
        </Button>
      }
    >
      <div className={classes.body}>
        <div className={classes.corpus}>
          <Records dataset={data} />
          <DatasetFacts dataset={data} />
        </div>
      </div>
      {deleting && (
        <RemoveDataset
          id={datasetId}
          onClose={(removed) => {
            setDeleting(false);
            if (removed) navigate('/texts/datasets');
          }}
        />
      )}
    </Screen>
  );
}

/** Debounces the search while typing. */
const WAIT_MS = 200;

function Records({ dataset: { id, trainN, testN, madeAt } }: { readonly dataset: DatasetDetail }) {
  const [side, setSide] = useState<'train' | 'test'>('train');
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim(), WAIT_MS);
  const [found, setFound] = useState<number | null>(null);
  const box = useRef<HTMLInputElement>(null);
  useKeys(
    useMemo(
      () => [
        { key: '/', label: 'Search the records', run: () => box.current?.focus() },
        {
          key: 't',
          label: 'Switch between training and test records',
          run: () => setSide((now) => (now === 'train' ? 'test' : 'train')),
        },
      ],
      [],
    ),
  );
  return (
    <Panel className={classes.tablePanel ?? ''}>
      <div className={classes.toolbar}>
        <Segments
          aria-label="Split"
          data={[
            { value: 'train', label: `Train ${number(trainN)}` },
            { value: 'test', label: `Test ${number(testN)}` },
          ]}
          value={side}
          onChange={(value) => setSide(value === 'test' ? 'test' : 'train')}
        />
        <TextInput
          ref={box}
          w={280}
          aria-label="Search titles and words"
          placeholder="Search titles and words"
          leftSection={<IconSearch size={14} />}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          rightSection={
            typed !== '' && <CloseButton size="sm" aria-label="Clear the search" onClick={() => setTyped('')} />
          }
        />
        <span className="soft num" role="status">
          {search !== '' && found !== null && `${number(found)} of ${number(side === 'train' ? trainN : testN)}`}
        </span>
      </div>
      <RecordList key={`${side}:${search}:${madeAt}`} {...{ id, side, search }} onTotal={setFound} />
    </Panel>
  );
}
