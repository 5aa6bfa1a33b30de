import { type PlatformPath, posix, win32 } from 'node:path'

/** A path of a host says itself whose it is; the machine that runs this may be another one. */
function rulesOf(path: string): PlatformPath {
  return /^[A-Za-z]:\\/.test(path) ? win32 : posix
}

export function join(directory: string, ...parts: readonly string[]): string {
  return rulesOf(directory).join(directory, ...parts)
}

export function dirname(path: string): string {
  return rulesOf(path).dirname(path)
}

export function basename(path: string): string {
  return rulesOf(path).basename(path)
}

/** Whether a path is one of some directories, or below one. */
export function isWithin(path: string, directories: readonly string[]): boolean {
  return directories.some((directory) => path === directory || isBelow(path, directory))
}

export function isBelow(path: string, directory: string): boolean {
  const { sep } = rulesOf(directory)
  return path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`)
}
