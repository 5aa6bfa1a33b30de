import { join } from 'node:path'

/** Where a path of the host is for us: itself, or below a directory that stands for the host, as in tests. */
export type Place = (path: string) => string

export function placeBelow(root: string): Place {
  return (path) => join(root, path)
}
