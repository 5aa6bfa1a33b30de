/**
 * Formats a program and its arguments as one command line, as Windows stores it for a service. Programs split
 * the line by the rules of CommandLineToArgvW: quotes group blanks, and backslashes are special only before a
 * quote.
 */
export function formatWindowsCommandLine(program: string, args: readonly string[]): string {
  if (program.includes('"')) throw new Error('no file of Windows has a quote in its name')
  // The path needs quotes, or Windows would try C:\Program first. Characters inside the path need no
  // escaping.
  return [`"${program}"`, ...args.map(quoteArgument)].join(' ')
}

function quoteArgument(argument: string): string {
  if (argument !== '' && !/[\s"]/.test(argument)) return argument
  const inner = argument.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/(\\+)$/, '$1$1')
  return `"${inner}"`
}
