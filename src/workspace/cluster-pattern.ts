import { join } from 'node:path'
import { hasCode } from '../kit/errors.ts'
import type { LocalFiles } from './context.ts'

/** True if a relative path matches a pattern of fleet.yml. `*` stands for any part of one name. */
export function matchesClusterPath(pattern: string, path: string): boolean {
  const [patternParts, parts] = [pattern.split('/'), path.split('/')]
  return (
    patternParts.length === parts.length &&
    patternParts.every((part, index) => matchesName(part, parts[index] ?? ''))
  )
}

function matchesName(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name
  // As in a shell, `*` does not match hidden names.
  if (name.startsWith('.') && !pattern.startsWith('.')) return false
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(name)
}

/** Lists the existing files that match a pattern, sorted by path. */
export async function listMatchingFiles(
  files: Pick<LocalFiles, 'exists' | 'listDirectory'>,
  directory: string,
  pattern: string,
): Promise<readonly string[]> {
  let paths: readonly string[] = [directory]
  for (const part of pattern.split('/')) {
    const next = await Promise.all(
      paths.map(async (path) => {
        if (!part.includes('*')) return [join(path, part)]
        const names = await listNames(files, path)
        return names.filter((name) => matchesName(part, name)).map((name) => join(path, name))
      }),
    )
    paths = next.flat()
  }
  const existing = await Promise.all(paths.map(async (path) => ((await files.exists(path)) ? [path] : [])))
  return existing.flat().toSorted()
}

/** Lists a directory. A path that is missing or a file has no names. */
async function listNames(
  { listDirectory }: Pick<LocalFiles, 'listDirectory'>,
  path: string,
): Promise<readonly string[]> {
  try {
    return await listDirectory(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return []
    throw error
  }
}
