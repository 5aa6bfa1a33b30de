import { dirname, isAbsolute, relative } from 'node:path'
import { printable } from '../../kit/printable.ts'
import { lockFile } from '../cluster-paths.ts'
import { findCommand } from '../command-table.ts'
import type { IdentityOptions, IdentityPaths } from '../load-identity.ts'

/** What to do with the files of a new cluster: said once, when they are made. */
export function keepingAdvice(
  { file, key: chosen }: IdentityOptions,
  { identity, key }: IdentityPaths,
): string {
  const inside = chosen !== undefined && isBelow(dirname(file), key)
  return printable(`commit ${file} and ${identity}, and ${lockFile(file)} once it is there
keep the key out of git, and a copy of it in another place:
  ${key}
  without it hyperkube cannot change, repair or rotate the cluster; pods go on running
  whoever has it and ${identity} can be anybody there, and read every secret
${inside ? `warning: ${key} lies where ${file} does; add it to .gitignore, or move it away\n` : ''}`)
}

/** Only what this hyperkube can do. */
export function nextCommands({ file, key }: IdentityOptions): string {
  const flags = file === 'cluster.yml' ? '' : ` -f ${file}`
  const opening = key === undefined ? flags : `${flags} --key ${key}`
  const lines = [
    ['lock', flags],
    ['plan', opening],
  ].filter(([name = '']) => findCommand(name) !== undefined)
  return printable(lines.map(([name, rest]) => `  → hyperkube ${name}${rest}\n`).join(''))
}

function isBelow(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return !way.startsWith('..') && !isAbsolute(way)
}
