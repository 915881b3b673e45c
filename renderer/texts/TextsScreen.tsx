/** The frame of the three tabs: texts, making datasets, datasets. */
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Link } from '../components/Link.tsx';
import { Screen } from '../components/Screen.tsx';
import classes from './Texts.module.css';

const views = [
  { path: '/texts', label: 'Texts' },
  { path: '/texts/make', label: 'Make datasets' },
  { path: '/texts/datasets', label: 'Datasets' },
] as const;

export interface TextsScreenProps {
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function TextsScreen({ about, actions, children }: TextsScreenProps) {
  const [location] = useLocation();
  const tabs = (
    <>
      <nav className={classes.tabs} aria-label="Texts and datasets">
        {views.map(({ path, label }) => (
          <Link key={path} href={path} aria-current={location === path ? 'page' : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      {about}
    </>
  );
  return (
    <Screen title="Texts & datasets" about={tabs} actions={actions}>
      <div className={classes.body}>{children}</div>
    </Screen>
  );
}
