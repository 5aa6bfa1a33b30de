import type { ClusterFiles } from '../../workspace/context.ts'
import { dirname, isAbsolute, relative } from 'node:path'
import { toPrintable } from '../../kit/text.ts'
import { buildLockPath } from '../../workspace/cluster-paths.ts'
import type { IdentityPaths } from '../../workspace/load-identity.ts'

/** Explains how to store the files of a new cluster. Shown once, when they are created. */
export function formatFileAdvice(
  { file, key: givenKey }: ClusterFiles,
  { identity, key }: IdentityPaths,
): string {
  const isKeyBesideFile = givenKey !== undefined && isInside(dirname(file), key)
  return toPrintable(`commit ${file} and ${identity}, and ${buildLockPath(file)} once it is there
keep the key out of git, and a copy of it in another place:
  ${key}
  without it hyperkube cannot change, repair or rotate the cluster; pods go on running
  with it and ${identity} one has full access to the cluster and can read every secret
${isKeyBesideFile ? `warning: ${key} lies where ${file} does; add it to .gitignore, or move it away\n` : ''}`)
}

/** Lists the commands that come after init. */
export function formatNextCommands({ file, key }: ClusterFiles): string {
  const flags = file === 'cluster.yml' ? '' : ` -f ${file}`
  const keyFlags = key === undefined ? flags : `${flags} --key ${key}`
  const lines = [
    ['lock', flags],
    ['plan', keyFlags],
  ]
  return toPrintable(lines.map(([name, rest]) => `  → hyperkube ${name}${rest}\n`).join(''))
}

function isInside(directory: string, path: string): boolean {
  const relativePath = relative(directory, path)
  return !relativePath.startsWith('..') && !isAbsolute(relativePath)
}
