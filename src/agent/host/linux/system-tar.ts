import { readdir, readlink } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { type Argv, toCommandError } from '../../../kit/command.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/text.ts'
import type { RunCommand } from '../command.ts'
import type { Tar } from '../host.ts'
import type { ToLocalPath } from '../local-files.ts'

/** Exit code of tar if it refused an entry or failed to extract one. */
const fatalExitCode = 2

/**
 * Unpacks with the host's tar. tar silently skips entries that it considers dangerous; this implementation
 * throws instead.
 */
export function createSystemTar(toLocalPath: ToLocalPath, command: RunCommand): Tar {
  return {
    async unpack({ path, into, strip }, signal) {
      const options = ['--no-same-owner', '--no-same-permissions', `--strip-components=${strip}`]
      // Archives are large, so they are extracted without checking their entries first. tar writes nothing
      // outside the directory, and the caller uses the directory only on success.
      const argv: Argv = ['tar', '-xzvf', toLocalPath(path), ...options, '-C', toLocalPath(into)]
      const result = await command(argv, { signal, codes: [0, fatalExitCode] })
      // After a failure all entries are listed, because tar does not name those that it refused.
      const list = result.code === 0 ? result : await command(['tar', '-tzf', toLocalPath(path)], { signal })
      const outside = list.stdout.split('\n').find(escapesDirectory)
      if (outside !== undefined) throw archiveEscapeError(path, outside)
      if (result.code !== 0) throw toCommandError(argv.join(' '), result)
      await checkLinks(toLocalPath(into), path)
    },
  }
}

/** True if an archive entry would be outside of the target directory. */
function escapesDirectory(name: string): boolean {
  return name.startsWith('/') || name.split('/').includes('..')
}

async function checkLinks(directory: string, archive: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() || entry.isDirectory()) continue
    const target = entry.isSymbolicLink() ? await readlink(path) : '/'
    if (escapesDirectory(relative(directory, resolve(dirname(path), target)))) {
      throw archiveEscapeError(archive, relative(directory, path))
    }
  }
}

function archiveEscapeError(archive: string, name: string): HyperkubeError {
  const message = `the archive ${archive} contains ${toPrintable(name)}, a path outside its directory`
  return new HyperkubeError('APPLY_ARCHIVE_REFUSED', message, {
    hint: 'no release contains such a path: do not use this archive, and check its source',
  })
}
