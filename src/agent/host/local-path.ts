import { join } from 'node:path'

/**
 * Maps a path of the host to a local path: the same one, or one below a directory that stands for the host in
 * tests.
 */
export type ToLocalPath = (path: string) => string

export function createPathMapper(root: string): ToLocalPath {
  return (path) => join(root, path)
}
