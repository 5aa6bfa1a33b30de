import { quoteShellIfNeeded } from '../../kit/text.ts'

/**
 * Flags that formatTypedCommand omits, with the number of their values. Most of these flags change only
 * prompts, output or the timeout. The others accept a risk once, so a suggested command must not contain
 * them.
 */
const omittedFlags: ReadonlyMap<string, number> = new Map([
  ['-y', 0],
  ['--yes', 0],
  ['--no-input', 0],
  ['-v', 0],
  ['--verbose', 0],
  ['-q', 0],
  ['--quiet', 0],
  ['--debug', 0],
  ['--progress', 1],
  ['-o', 1],
  ['--output', 1],
  ['--timeout', 1],
  ['--accept-new-host-keys', 0],
  ['--forget-host-key', 1],
  ['--force-unlock', 0],
])

/** Matches omitted short flags that are combined into one word, such as -yv. */
const combinedShortFlags = /^-[yvq]{2,}$/

/**
 * Formats the typed arguments as a command that is safe to run again. The command keeps all arguments that
 * decide what is changed, such as --dry-run. It prompts before it changes anything.
 */
export function formatTypedCommand(args: readonly string[]): string {
  const kept: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    const values =
      omittedFlags.get(arg.replace(/=.*$/s, '')) ?? (combinedShortFlags.test(arg) ? 0 : undefined)
    if (values === undefined) kept.push(quoteShellIfNeeded(arg))
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
  return ['up', ...listClusterFlags(command)].join(' ')
}

/** Lists the flags of a formatted command that choose the cluster: its cluster.yml and its key. */
export function listClusterFlags(command: string): readonly string[] {
  return command.match(/(?<=\s)(?:-f|--file|--key)(?:\s|=)(?:'[^']*'|\S+)/g) ?? []
}
