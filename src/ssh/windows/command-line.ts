import type { Argv } from '../../kit/command.ts'

/**
 * A path that starts with a drive or with the login directory and has no characters that are special in a
 * shell. A name must not end with a dot, because Windows would drop the dot.
 */
const programPattern = /^(?:[A-Za-z]:|\.)(?:\\[A-Za-z0-9_.-]*[A-Za-z0-9_-])+$/

/**
 * Pattern of arguments. Leading dashes, dots and colons are not allowed, because PowerShell may split such
 * arguments.
 */
const argumentPattern = /^[a-z0-9][a-z0-9-]*$/

/**
 * Builds a command line that cmd.exe and PowerShell interpret identically, because sshd may use either. Their
 * quoting rules differ, so arguments that need quotes are rejected. Callers must pass such data on standard
 * input.
 */
export function buildWindowsCommandLine([path, ...args]: Argv): string {
  if (!programPattern.test(path))
    throw new Error(`${path} cannot be run over ssh: its name would have to be quoted`)
  const wrong = args.find((one) => !argumentPattern.test(one))
  if (wrong !== undefined) throw new Error(`${wrong} is not safe in every Windows shell without quotes`)
  return [path, ...args].join(' ')
}

/** Converts a Windows path to an sftp path, for example C:\hyperkube to /C:/hyperkube. */
export function toSftpPath(path: string): string {
  const [, drive, rest] = /^([A-Za-z]:)(\\.*)?$/.exec(path) ?? []
  if (drive === undefined) throw new Error(`${path} does not begin with a drive`)
  return `/${drive}${(rest ?? '').replaceAll('\\', '/')}`
}
