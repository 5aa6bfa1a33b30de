import type { Argv } from '../../kit/command.ts'

/**
 * A path from a drive or from the login's own directory on, of letters that mean nothing to any shell. A dot at the end
 * of a name would be left out by Windows.
 */
const program = /^(?:[A-Za-z]:|\.)(?:\\[A-Za-z0-9_.-]*[A-Za-z0-9_-])+$/

/** No dash at the beginning, no dots and colons: PowerShell takes words apart at those. */
const word = /^[a-z0-9][a-z0-9-]*$/

/**
 * A program of a Windows host with some fixed words, as a line that means the same to cmd.exe and to PowerShell, either
 * of which may be what its sshd hands it to. Nothing is quoted, as they do not agree on how: what would need it is refused.
 * All else that a program has to know it reads from its input.
 */
export function windowsLine([path, ...words]: Argv): string {
  if (!program.test(path)) throw new Error(`${path} cannot be run over ssh: its name would have to be quoted`)
  const wrong = words.find((one) => !word.test(one))
  if (wrong !== undefined) throw new Error(`${wrong} is no word that every shell of Windows takes as it is`)
  return [path, ...words].join(' ')
}

/** A path of Windows as sftp names it: /C:/hyperkube. */
export function sftpPath(path: string): string {
  const [, drive, rest] = /^([A-Za-z]:)(\\.*)?$/.exec(path) ?? []
  if (drive === undefined) throw new Error(`${path} does not begin with a drive`)
  return `/${drive}${(rest ?? '').replaceAll('\\', '/')}`
}
