import { win32 } from 'node:path'
import { HyperkubeError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/printable.ts'
import type { RunCommand } from '../../host/command.ts'
import type { Tar } from '../../host/tar.ts'

/** The tar of Windows, which also reads zip. Archive entries are checked before they are unpacked. */
export function windowsTar(systemRoot: string, command: RunCommand): Tar {
  const tar = win32.join(systemRoot, 'System32', 'tar.exe')
  return {
    async unpack({ path, into, strip }, signal) {
      const { stdout } = await command([tar, '-tf', path], { signal })
      const outside = stdout.split(/\r?\n/).find(escapesDirectory)
      if (outside !== undefined) throw archiveRefusedError(path, outside)
      await command([tar, '-xf', path, `--strip-components=${strip}`, '-C', into], { signal })
    },
  }
}

/** Whether an archive entry would be written outside the target directory. */
export function escapesDirectory(name: string): boolean {
  return /^[\\/]|^[A-Za-z]:/.test(name) || name.split(/[\\/]/).includes('..')
}

function archiveRefusedError(archive: string, name: string): HyperkubeError {
  const message = `in the archive ${archive} is ${toPrintable(name)}, which leads out of its directory`
  return new HyperkubeError('APPLY_ARCHIVE_REFUSED', message, {
    hint: 'no release has such a file: ask who made this archive before you trust it',
  })
}
