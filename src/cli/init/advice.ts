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
  return toPrintable(`commit ${file} and ${identity}; also commit ${buildLockPath(file)}, which hyperkube up creates
do not commit the key, and keep a backup of it on another machine:
  ${key}
  without the key, hyperkube cannot change, repair or rotate the cluster; pods keep running
  the key and ${identity} together give full access to the cluster and its secrets
${isKeyBesideFile ? `warning: ${key} is in the directory of ${file}; add it to .gitignore, or move it\n` : ''}`)
}

/** Lists the commands that come after init. */
export function formatNextCommands({ file, key }: ClusterFiles): string {
  const flags = file === 'cluster.yml' ? '' : ` -f ${file}`
  const keyFlags = key === undefined ? flags : `${flags} --key ${key}`
  return toPrintable(`  → to preview the changes (optional): hyperkube plan${keyFlags}
  → to create or update the cluster: hyperkube up${keyFlags}
`)
}

function isInside(directory: string, path: string): boolean {
  const relativePath = relative(directory, path)
  return !relativePath.startsWith('..') && !isAbsolute(relativePath)
}
