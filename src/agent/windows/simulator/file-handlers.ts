import { createHash } from 'node:crypto'
import { closedAccess } from '../operations/files.ts'
import type { Handlers } from './handler.ts'
import { instantOf } from './instant.ts'
import { fileAt, isRunning, type Machine, putFile, type SimulatedFile } from './machine.ts'

export function fileHandlers(machine: Machine): Pick<Handlers, 'files'> {
  const there = (path: string): SimulatedFile => {
    const file = fileAt(machine, path)
    if (file === undefined) throw new Error(`Could not find file '${path}'.`)
    return file
  }
  const mayMove = (file: SimulatedFile): void => {
    if (file.heldUntil > machine.time)
      throw new Error('The process cannot access the file because it is being used by another process.')
  }
  const mayGo = (file: SimulatedFile): void => {
    mayMove(file)
    if (isRunning(machine, file)) throw new Error(`Access to the path '${file.path}' is denied.`)
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
        return file === undefined || file.directory ? [] : [{ Text: file.content }]
      },
      write({ path, text }) {
        const former = fileAt(machine, path)
        if (former !== undefined) mayGo(former)
        const { access } = putFile(machine, path, text)
        Object.assign(there(path), { access: former?.access ?? access })
        return []
      },
      move({ from, to }) {
        const file = there(from)
        mayMove(file)
        if (fileAt(machine, to) !== undefined)
          throw new Error('Cannot create a file when that file already exists.')
        machine.files.delete(from.toLowerCase())
        file.path = to
        machine.files.set(to.toLowerCase(), file)
        return []
      },
      remove({ path }) {
        const file = fileAt(machine, path)
        if (file === undefined) return []
        mayGo(file)
        machine.files.delete(path.toLowerCase())
        return []
      },
      access({ path }) {
        const file = fileAt(machine, path)
        return file === undefined ? [] : [{ Sddl: file.access }]
      },
      close({ path }) {
        const file = there(path)
        file.access = file.directory ? closedAccess.directory : closedAccess.file
        return []
      },
    },
  }
}

export function digestOf(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}
