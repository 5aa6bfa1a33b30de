import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hashFile } from '../../src/kit/files.ts'

/** Returns the SHA-256 of all files in a directory, by name in alphabetical order. */
export async function hashFiles(directory: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  const digests = new Map<string, string>()
  for (const name of names.toSorted()) digests.set(name, await hashFile(join(directory, name)))
  return digests
}

/** Formats digests as sha256sum does. */
export function formatChecksums(digests: ReadonlyMap<string, string>): string {
  return [...digests].map(([name, sha256]) => `${sha256}  ${name}\n`).join('')
}
