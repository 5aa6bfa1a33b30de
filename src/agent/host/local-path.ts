import { join } from 'node:path'

/**
 * Maps a path of the host to a path on this machine. Tests map it into a temporary directory; otherwise both
 * are the same.
 */
export type ToLocalPath = (path: string) => string

export function createPathMapper(root: string): ToLocalPath {
  return (path) => join(root, path)
}
