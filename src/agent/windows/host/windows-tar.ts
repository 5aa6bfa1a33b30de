import { win32 } from 'node:path'
import { HyperkubeError } from '../../../kit/errors.ts'
import { printable } from '../../../kit/printable.ts'
import type { Command } from '../../host/command.ts'
import type { Tar } from '../../host/tar.ts'

/** The tar that comes with Windows, which reads zip as well. What it would unpack is looked at before. */
export function windowsTar(systemRoot: string, command: Command): Tar {
  const tar = win32.join(systemRoot, 'System32', 'tar.exe')
  return {
    async unpack({ path, into, strip }, signal) {
      const { stdout } = await command([tar, '-tf', path], { signal })
      const outside = stdout.split(/\r?\n/).find(leaves)
      if (outside !== undefined) throw refused(path, outside)
      await command([tar, '-xf', path, `--strip-components=${strip}`, '-C', into], { signal })
    },
  }
}

/** Whether a name in an archive leads out of where it is unpacked. */
export function leaves(name: string): boolean {
  return /^[\\/]|^[A-Za-z]:/.test(name) || name.split(/[\\/]/).includes('..')
}

function refused(archive: string, name: string): HyperkubeError {
  const message = `in the archive ${archive} is ${printable(name)}, which leads out of its directory`
  return new HyperkubeError('APPLY_ARCHIVE_REFUSED', message, {
    hint: 'no release has such a file: ask who made this archive before you trust it',
  })
}
