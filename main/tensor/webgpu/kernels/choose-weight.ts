/** Several matrices that one program reads. */

/** A function `name(line, at, lines, length)` that reads matrix number `part`, a private variable, by name0, name1 … */
export function chooseWeight(name: string, matrices: number, type = 'vec4<f32>'): string {
  const reads = Array.from({ length: matrices }, (_, i) => `${name}${i}(line, at, lines, length)`);
  const choices = reads.slice(0, -1).map((read, i) => `  if (part == ${i}u) { return ${read}; }`);
  return `fn ${name}(line: u32, at: u32, lines: u32, length: u32) -> ${type} {
${choices.join('\n')}
  return ${reads.at(-1)};
}`;
}
