import { readdir, readlink } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { Command } from './command.ts'
import type { Place } from './place.ts'
import type { Tar } from './tar.ts'

/** The tar of the host. It would leave out what it takes for dangerous; we want to know of it instead. */
export function systemTar(place: Place, command: Command): Tar {
  return {
    async unpack({ path, into, strip }, signal) {
      const { stdout } = await command(['tar', '-tzf', place(path)], { signal })
      const outside = stdout.split('\n').find(leaves)
      if (outside !== undefined) throw refused(path, outside)
      const options = ['--no-same-owner', '--no-same-permissions', `--strip-components=${strip}`]
      await command(['tar', '-xzf', place(path), ...options, '-C', place(into)], { signal })
      await checkLinks(place(into), path)
    },
  }
}

/** Whether a name in an archive leads out of where it is unpacked. */
function leaves(name: string): boolean {
  return name.startsWith('/') || name.split('/').includes('..')
}

async function checkLinks(directory: string, archive: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() || entry.isDirectory()) continue
    const target = entry.isSymbolicLink() ? await readlink(path) : '/'
    if (leaves(relative(directory, resolve(dirname(path), target)))) {
      throw refused(archive, relative(directory, path))
    }
  }
}

function refused(archive: string, name: string): HyperkubeError {
  const message = `in the archive ${archive} is ${printable(name)}, which leads out of its directory`
  return new HyperkubeError('APPLY_ARCHIVE_REFUSED', message, {
    hint: 'no release has such a file: ask who made this archive before you trust it',
  })
}
