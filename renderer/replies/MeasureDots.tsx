/** Means with intervals by metric, a dot for each model: the figures of the table at a glance. */
import type { ReportView } from '../../main/api/contract/index.ts';
import classes from './MeasureDots.module.css';
import { colourOfModel } from './report-charts.ts';
import { mean, modelLabel } from './report-rows.ts';

export function MeasureDots({ numbers }: Pick<ReportView, 'numbers'>) {
  // A mean that doesn't exist arrives as null.
  const exists = (value: number): boolean => Number.isFinite(value);
  const rows = numbers.rows.filter(
    ({ means }) =>
      means.some(({ mean: value }) => exists(value)) &&
      means.every(({ mean: value }) => !exists(value) || (value >= 0 && value <= 1)),
  );
  return (
    <figure className={classes.figure}>
      <figcaption>
        <h3>All metrics</h3>
        <ul className={classes.legend}>
          {numbers.models.map(({ name }, i) => (
            <li key={name}>
              <span className={classes.key} style={{ background: `var(--${colourOfModel(name, i)})` }} />
              {modelLabel(name)}
            </li>
          ))}
        </ul>
      </figcaption>
      <ul className={classes.rows} aria-label="Means with 95% intervals, from 0 to 1">
        {rows.map(({ name, label, means }) => (
          <li key={name}>
            <span>{label}</span>
            <span
              className={classes.scale}
              role="img"
              aria-label={means.map((one) => `${modelLabel(one.model)} ${mean(one.mean)}`).join(', ')}
            >
              {means.map(({ model, mean: value, low, high }, i) => (
                <span
                  key={model}
                  style={{ '--colour': `var(--${colourOfModel(model, i)})`, '--lane': i } as React.CSSProperties}
                >
                  {exists(value) && (
                    <>
                      <i
                        className={classes.interval}
                        style={{ left: `${low * 100}%`, width: `${Math.max(0, high - low) * 100}%` }}
                      />
                      <i className={classes.dot} style={{ left: `${value * 100}%` }} />
                    </>
                  )}
                </span>
              ))}
            </span>
          </li>
        ))}
      </ul>
      <div className={classes.axis} aria-hidden="true">
        <span>0</span>
        <span>0.5</span>
        <span>1</span>
      </div>
    </figure>
  );
}
