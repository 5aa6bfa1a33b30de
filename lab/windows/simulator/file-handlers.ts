import { createHash } from 'node:crypto'
import { adminOnlySddl } from '../../../src/agent/host/windows-operations/files.ts'
import type { Handlers } from './handler.ts'
import { formatInstant } from './instant.ts'
import { inheritedSddl, type SimulatedFile, withInheritedEntries } from './files/simulated-files.ts'
import { findFile, isRunning, type Machine, writeMachineFile } from './machine.ts'

export function fileHandlers(machine: Machine): Pick<Handlers, 'files'> {
  const requireFile = (path: string): SimulatedFile => {
    const file = findFile(machine, path)
    if (file === undefined) throw new Error(`Could not find file '${path}'.`)
    return file
  }
  return {
    files: {
      stat({ path }) {
        const file = findFile(machine, path)
        if (file === undefined) return []
        const { content, modified, directory } = file
        return [
          {
            Kind: directory ? 'directory' : 'file',
            Length: content.length,
            LastWriteTimeUtc: formatInstant(modified),
          },
        ]
      },
      digest({ path }) {
        const file = findFile(machine, path)
        return file === undefined || file.directory
          ? []
          : [{ Hash: computeSha256(file.content).toUpperCase() }]
      },
      read({ path }) {
        const file = findFile(machine, path)
        return file === undefined || file.directory ? [] : [{ Text: file.content.toString('utf8') }]
      },
      write({ path, text }) {
        const previous = findFile(machine, path)
        if (previous !== undefined) assertDeletable(machine, previous)
        const access = previous?.access
        const file = writeMachineFile(machine, path, text)
        if (access !== undefined && !access.includes('D:AI')) file.access = access
        return []
      },
      move({ from, to }) {
        const file = requireFile(from)
        assertMovable(machine, file)
        if (findFile(machine, to) !== undefined)
          throw new Error('Cannot create a file when that file already exists.')
        updateProcessPaths(machine, file, to)
        machine.files.move(file, to)
        return []
      },
      remove({ path }) {
        const file = findFile(machine, path)
        if (file === undefined) return []
        assertDeletable(machine, file)
        machine.files.remove(file)
        return []
      },
      access({ path }) {
        const file = findFile(machine, path)
        return file === undefined
          ? []
          : [
              {
                Sddl: file.access.endsWith('D:AI')
                  ? withInheritedEntries(file.access, inheritedSddl.open)
                  : file.access,
              },
            ]
      },
      grant({ path, sddl }) {
        requireFile(path).access = sddl
        return []
      },
      close({ path }) {
        const file = requireFile(path)
        file.access = file.directory ? adminOnlySddl.directory : adminOnlySddl.file
        return []
      },
    },
  }
}

/** Throws the Windows error if another process has the file open. */
export function assertMovable({ time }: Machine, { heldUntil }: SimulatedFile): void {
  if (heldUntil > time)
    throw new Error('The process cannot access the file because it is being used by another process.')
}

/**
 * Like `assertMovable`, but also throws for the file of a running program, which can be neither changed nor
 * removed.
 */
export function assertDeletable(machine: Machine, file: SimulatedFile): void {
  assertMovable(machine, file)
  if (isRunning(machine, file)) throw new Error(`Access to the path '${file.path}' is denied.`)
}

/** Updates the program path of all processes that run from a moved file. These processes keep running. */
export function updateProcessPaths(
  { processes }: Machine,
  { id }: Pick<SimulatedFile, 'id'>,
  to: string,
): void {
  for (const process of processes.values()) if (process.image === id) process.program = to
}

export function computeSha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
