import { createHash } from 'node:crypto'
import { closedAccess } from '../../../src/agent/windows/operations/files.ts'
import type { Handlers } from './handler.ts'
import { instantOf } from './instant.ts'
import { inherited, type SimulatedFile } from './files/simulated-files.ts'
import { fileAt, isRunning, type Machine, putFile } from './machine.ts'

export function fileHandlers(machine: Machine): Pick<Handlers, 'files'> {
  const there = (path: string): SimulatedFile => {
    const file = fileAt(machine, path)
    if (file === undefined) throw new Error(`Could not find file '${path}'.`)
    return file
  }
  return {
    files: {
      stat({ path }) {
        const file = fileAt(machine, path)
        if (file === undefined) return []
        const { content, modified, directory } = file
        return [
          {
            Kind: directory ? 'directory' : 'file',
            Length: content.length,
            LastWriteTimeUtc: instantOf(modified),
          },
        ]
      },
      digest({ path }) {
        const file = fileAt(machine, path)
        return file === undefined || file.directory ? [] : [{ Hash: digestOf(file.content).toUpperCase() }]
      },
      read({ path }) {
        const file = fileAt(machine, path)
        return file === undefined || file.directory ? [] : [{ Text: file.content.toString('utf8') }]
      },
      write({ path, text }) {
        const former = fileAt(machine, path)
        if (former !== undefined) mayGo(machine, former)
        const access = former?.access
        const file = putFile(machine, path, text)
        if (access !== undefined && !access.includes('D:AI')) file.access = access
        return []
      },
      move({ from, to }) {
        const file = there(from)
        mayMove(machine, file)
        if (fileAt(machine, to) !== undefined)
          throw new Error('Cannot create a file when that file already exists.')
        moved(machine, file, to)
        machine.files.move(file, to)
        return []
      },
      remove({ path }) {
        const file = fileAt(machine, path)
        if (file === undefined) return []
        mayGo(machine, file)
        machine.files.remove(file)
        return []
      },
      access({ path }) {
        const file = fileAt(machine, path)
        return file === undefined
          ? []
          : [{ Sddl: file.access.endsWith('D:AI') ? inherited.open : file.access }]
      },
      grant({ path, sddl }) {
        there(path).access = sddl
        return []
      },
      close({ path }) {
        const file = there(path)
        file.access = file.directory ? closedAccess.directory : closedAccess.file
        return []
      },
    },
  }
}

/** Throws what Windows says of a file that somebody has open. */
export function mayMove({ time }: Machine, { heldUntil }: SimulatedFile): void {
  if (heldUntil > time)
    throw new Error('The process cannot access the file because it is being used by another process.')
}

/** The same of one that a process runs from, for whoever would change or remove it. */
export function mayGo(machine: Machine, file: SimulatedFile): void {
  mayMove(machine, file)
  if (isRunning(machine, file)) throw new Error(`Access to the path '${file.path}' is denied.`)
}

/** A process runs on from wherever its file is. */
export function moved({ processes }: Machine, { id }: Pick<SimulatedFile, 'id'>, to: string): void {
  for (const process of processes.values()) if (process.image === id) process.program = to
}

export function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
