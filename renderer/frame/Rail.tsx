import { useLocation } from 'wouter';
import { Hint } from '../components/Hint.tsx';
import { Link } from '../components/Link.tsx';
import { StrandMark } from '../theme/strand-mark.tsx';
import classes from './Frame.module.css';
import { screens } from './screens.ts';

/** The navigation rail on the left, with every screen. */
export function Rail() {
  const [location] = useLocation();
  const isHere = (path: string): boolean => (path === '/' ? location === '/' : location.startsWith(path));
  return (
    <nav className={classes.rail} aria-label="Screens">
      <div className={classes.mark}>
        <StrandMark size={22} />
      </div>
      {screens.map(({ path, label, key, icon: Icon }) => (
        <Hint key={path} label={`${label} (g ${key})`} position="right">
          <Link
            href={path}
            className={classes.place}
            aria-current={isHere(path) ? 'page' : undefined}
            data-here={isHere(path) || undefined}
          >
            <Icon size={19} stroke={1.6} aria-hidden="true" />
            <span>{label}</span>
          </Link>
        </Hint>
      ))}
    </nav>
  );
}
