/**
 * Flags that are not repeated, with the number of their values: those that change only how a command asks and
 * prints, and those by which an operator accepts a risk once.
 */
const omittedFlags: ReadonlyMap<string, number> = new Map([
  ['-y', 0],
  ['--yes', 0],
  ['--no-input', 0],
  ['--debug', 0],
  ['--progress', 1],
  ['-o', 1],
  ['--output', 1],
  ['--timeout', 1],
  ['--forget-host-key', 1],
  ['--force-unlock', 0],
])

/**
 * Formats the typed arguments as a command that is safe to run again: it keeps all arguments that decide what
 * is changed, such as --dry-run, and asks before it changes anything.
 */
export function formatTypedCommand(args: readonly string[]): string {
  const kept: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    const values = omittedFlags.get(arg.replace(/=.*$/s, ''))
    if (values === undefined) kept.push(quoteForShell(arg))
    else if (!arg.includes('=')) index += values
  }
  return kept.join(' ')
}

/**
 * Returns the command that resumes a run. Upgrade and node commands first write the desired state to
 * cluster.yml, so `up` continues them.
 */
export function findResumeCommand(command: string): string {
  if (!/^(upgrade|node (add|remove|replace))\b/.test(command)) return command
  const fileFlags = command.match(/(?<=\s)(?:-f|--file|--key)(?:\s|=)(?:'[^']*'|\S+)/g) ?? []
  return ['up', ...fileFlags].join(' ')
}

function quoteForShell(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`
}
