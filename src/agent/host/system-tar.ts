import { readdir, readlink } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { type Argv, commandFailed } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { Command } from './command.ts'
import type { Place } from './local-path.ts'
import type { Tar } from './tar.ts'

/** What tar ends with when it would not take something, or could not. */
const fatal = 2

/** The tar of the host. It would leave out what it takes for dangerous; we want to know of it instead. */
export function systemTar(place: Place, command: Command): Tar {
  return {
    async unpack({ path, into, strip }, signal) {
      const options = ['--no-same-owner', '--no-same-permissions', `--strip-components=${strip}`]
      // In one go, as archives are large: nothing gets out of the directory, and whoever asked takes it only if all is well.
      const argv: Argv = ['tar', '-xzvf', place(path), ...options, '-C', place(into)]
      const result = await command(argv, { signal, codes: [0, fatal] })
      // What it would not take it does not name.
      const list = result.code === 0 ? result : await command(['tar', '-tzf', place(path)], { signal })
      const outside = list.stdout.split('\n').find(leaves)
      if (outside !== undefined) throw refused(path, outside)
      if (result.code !== 0) throw commandFailed(argv.join(' '), result)
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
