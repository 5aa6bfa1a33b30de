import { statfs } from 'node:fs/promises'
import packageFile from '../../../package.json' with { type: 'json' }
import type { CallScene } from '../../agent/windows/bootstrap/host-call-context.ts'
import { windowsHost } from '../../agent/windows/host/windows-host.ts'
import type { WindowsOperations } from '../../agent/windows/operations/windows-operations.ts'
import { windowsPlaces } from '../../contract/windows-paths.ts'
import { HyperkubeError } from '../../kit/errors.ts'

/** This very machine, as whoever calls our program without its agent finds it. */
export function callScene(operations: WindowsOperations, base: string, gone: AbortSignal): CallScene {
  const systemRoot = process.env['SystemRoot'] ?? String.raw`C:\Windows`
  const { host } = windowsHost({ version: packageFile.version, base, operations, systemRoot })
  return {
    host,
    places: windowsPlaces(base),
    arch: process.arch,
    async used(path) {
      const { blocks, bfree, bavail } = await statfs(path)
      const taken = blocks - bfree
      return taken / Math.max(1, taken + bavail)
    },
    gone,
  }
}

export function needWindows(command: string): void {
  if (process.platform === 'win32') return
  throw new HyperkubeError('WINDOWS_ONLY', `${command} is for hosts of Windows, and this is none`, {
    hint: 'hyperkube help',
  })
}
