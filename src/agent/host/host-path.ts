import { type PlatformPath, posix, win32 } from 'node:path'

/**
 * Selects Windows or POSIX path rules by the format of the path. The operating system of this process does
 * not decide, because tests and the lab run the code for Windows hosts on Linux.
 */
function selectPathRules(path: string): PlatformPath {
  return /^[A-Za-z]:\\/.test(path) ? win32 : posix
}

export function join(directory: string, ...parts: readonly string[]): string {
  return selectPathRules(directory).join(directory, ...parts)
}

export function dirname(path: string): string {
  return selectPathRules(path).dirname(path)
}

export function basename(path: string): string {
  return selectPathRules(path).basename(path)
}

/** True if the path equals one of the directories or is below one. */
export function isAtOrBelow(path: string, directories: readonly string[]): boolean {
  return directories.some((directory) => path === directory || isBelow(path, directory))
}

export function isBelow(path: string, directory: string): boolean {
  const { sep } = selectPathRules(directory)
  return path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`)
}
