/** What every screen is made of: a heading with its actions, and panels. */
import { type ReactNode, useContext, useEffect } from 'react';
import { IsRehearsed } from '../frame/is-rehearsed.ts';
import classes from './Screen.module.css';

export interface ScreenProps {
  readonly title: string;
  /** Beside the title: state, lineage. */
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A screen; its title is also the window's. */
export function Screen({ title, about, actions, children }: ScreenProps) {
  const isRehearsed = useContext(IsRehearsed);
  useEffect(() => {
    if (!isRehearsed) document.title = `${title} · Braid`;
  }, [title, isRehearsed]);
  return (
    <div className={classes.screen}>
      <header className={classes.header}>
        <h1>{title}</h1>
        <div className={classes.about}>{about}</div>
        <div className={classes.actions}>{actions}</div>
      </header>
      {children}
    </div>
  );
}

export interface PanelProps {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
}

/** A framed part of a screen. */
export function Panel({ title, actions, children, className }: PanelProps) {
  return (
    <section className={`${classes.panel} ${className ?? ''}`}>
      {(title !== undefined || actions !== undefined) && (
        <div className={classes.panelHead}>
          <h2>{title}</h2>
          <div className={classes.actions}>{actions}</div>
        </div>
      )}
      {children}
    </section>
  );
}
