import type { Argv } from '../../kit/command.ts'

/**
 * A path from a drive or from the login directory, of characters without a meaning to any shell. Windows
 * would drop a dot at the end of a name.
 */
const programPattern = /^(?:[A-Za-z]:|\.)(?:\\[A-Za-z0-9_.-]*[A-Za-z0-9_-])+$/

/** No leading dash, no dots and no colons: PowerShell splits arguments there. */
const argumentPattern = /^[a-z0-9][a-z0-9-]*$/

/**
 * Builds a command line that means the same to cmd.exe and to PowerShell, because sshd may use either.
 * Nothing is quoted, since their rules differ; arguments that need quotes are refused. Programs read all
 * other input from standard input.
 */
export function buildWindowsCommandLine([path, ...args]: Argv): string {
  if (!programPattern.test(path))
    throw new Error(`${path} cannot be run over ssh: its name would have to be quoted`)
  const wrong = args.find((one) => !argumentPattern.test(one))
  if (wrong !== undefined) throw new Error(`${wrong} is no word that every shell of Windows takes as it is`)
  return [path, ...args].join(' ')
}

/** Converts a Windows path for sftp: /C:/hyperkube. */
export function toSftpPath(path: string): string {
  const [, drive, rest] = /^([A-Za-z]:)(\\.*)?$/.exec(path) ?? []
  if (drive === undefined) throw new Error(`${path} does not begin with a drive`)
  return `/${drive}${(rest ?? '').replaceAll('\\', '/')}`
}
