import { createReadStream } from 'node:fs'
import { open, readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import {
  encodeTable,
  hashWithoutTable,
  type ReleaseTable,
  tableMagic,
} from '../../src/contract/release-table.ts'
import { signMachO } from './mach-o-signature.ts'
import { targets } from './runtime.ts'

/**
 * Writes the table of all executables for hosts into all executables of a release, and returns the table.
 * `url` is the directory of the release on the web, and `publicKey` verifies releases.
 */
export async function writeReleaseTable(
  files: readonly string[],
  { url, publicKey }: Pick<ReleaseTable, 'url' | 'publicKey'> = {},
): Promise<ReleaseTable> {
  const formats = new Map(Object.values(targets).map(({ output, format }) => [output, format]))
  const offsets = new Map<string, number>()
  for (const file of files) offsets.set(file, locateTable(await readFile(file), file))
  const entries = files
    .filter((file) => formats.get(basename(file)) !== 'mach-o')
    .map(async (file) => {
      const offset = offsets.get(file) ?? 0
      const { sha256, size } = await hashWithoutTable(createReadStream(file), offset)
      return [basename(file), { sha256, offset, size }] as const
    })
  const table = {
    ...(url === undefined ? {} : { url }),
    ...(publicKey === undefined ? {} : { publicKey }),
    files: Object.fromEntries(await Promise.all(entries)),
  }
  for (const file of files) {
    await using handle = await open(file, 'r+')
    await handle.write(encodeTable(table), 0, undefined, offsets.get(file))
    if (formats.get(basename(file)) === 'mach-o')
      await writeFile(file, signMachO(await readFile(file), 'hyperkube'))
  }
  return table
}

function locateTable(content: Buffer, file: string): number {
  const start = content.indexOf(tableMagic)
  if (start === -1 || content.includes(tableMagic, start + 1))
    throw new Error(`${file} must contain exactly one release table`)
  return start + tableMagic.length
}
