/**
 * A program and its arguments as one line, which is all that Windows keeps of a service. Each program takes it apart by
 * itself, by the rules of CommandLineToArgvW: quotes hold blanks together, and backslashes mean something only before
 * a quote.
 */
export function commandLine(program: string, args: readonly string[]): string {
  if (program.includes('"')) throw new Error('no file of Windows has a quote in its name')
  // The program alone has other rules: nothing in it is special. It is always quoted, or C:\Program would be tried first.
  return [`"${program}"`, ...args.map(quoted)].join(' ')
}

function quoted(argument: string): string {
  if (argument !== '' && !/[\s"]/.test(argument)) return argument
  const inner = argument.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/(\\+)$/, '$1$1')
  return `"${inner}"`
}
