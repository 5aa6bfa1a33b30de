import { statfs } from 'node:fs/promises'
import packageFile from '../../../package.json' with { type: 'json' }
import type { HostCallContext } from '../../agent/host-call/host-call-context.ts'
import type { WindowsOperations } from '../../agent/host/windows-operations/table.ts'
import { createWindowsHost } from '../../agent/platform/windows-host.ts'
import { buildWindowsPaths } from '../../contract/host-paths.ts'
import { HyperkubeError } from '../../kit/errors.ts'

/** Creates the context for handling a host call on this Windows host. Host calls work without the agent. */
export function createHostCallContext(
  operations: WindowsOperations,
  base: string,
  callerGone: AbortSignal,
): HostCallContext {
  const systemRoot = process.env['SystemRoot'] ?? String.raw`C:\Windows`
  const { host } = createWindowsHost({ version: packageFile.version, base, operations, systemRoot })
  return {
    host,
    paths: buildWindowsPaths(base),
    arch: process.arch,
    async readDiskUsage(path) {
      const { blocks, bfree, bavail } = await statfs(path)
      const usedBlocks = blocks - bfree
      return usedBlocks / Math.max(1, usedBlocks + bavail)
    },
    callerGone,
  }
}

export function requireWindows(command: string): void {
  if (process.platform === 'win32') return
  throw new HyperkubeError('WINDOWS_ONLY', `${command} runs only on Windows hosts`, {
    hint: 'list all commands: hyperkube help',
  })
}
