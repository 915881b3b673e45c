/**
 * A sign of life from long synchronous work: a weight is loaded, a layer computed, an op differentiated, a token
 * decoded. Whoever runs the work decides who hears it; a process does one job, so there is one listener.
 */
const silent = (): void => undefined;
let listener = silent;

/** Sets who hears the pulses from now on; null: nobody. */
export function onPulse(heard: (() => void) | null): void {
  listener = heard ?? silent;
}

/** Called at least every few seconds by work that takes longer. */
export function pulse(): void {
  listener();
}
