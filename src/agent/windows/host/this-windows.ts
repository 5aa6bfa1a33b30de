import { tmpdir } from 'node:os'
import { hasCode } from '../../../kit/errors.ts'
import { systemClock } from '../../host/clock.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import { powershellHost } from '../powershell/powershell-host.ts'
import { readHostScript } from '../powershell/script.ts'
import { connectServiceManager, serviceManagerPipe } from '../svcctl/connection.ts'
import { svcctlServices } from '../svcctl/services.ts'
import { registrySettings } from '../svcctl/service-settings.ts'
import { windowsCommand } from './windows-command.ts'

export interface ThisWindows extends AsyncDisposable {
  readonly host: WindowsOperations
}

/**
 * Opens the local Windows host: services through the Service Control Manager, everything else through
 * PowerShell.
 */
export async function thisWindows(): Promise<ThisWindows> {
  const powershell = powershellHost({ script: await readHostScript() })
  const services = withFallback(localServices(), powershell.host.services)
  return {
    host: { ...powershell.host, services },
    [Symbol.asyncDispose]: async () => powershell[Symbol.asyncDispose](),
  }
}

export function localServices(): WindowsOperations['services'] {
  const systemRoot = process.env['SystemRoot'] ?? String.raw`C:\Windows`
  return svcctlServices({
    connect: async (signal) => connectServiceManager(serviceManagerPipe, signal),
    settings: registrySettings(systemRoot, tmpdir(), windowsCommand(systemRoot)),
    clock: systemClock,
  })
}

type Services = WindowsOperations['services']

/**
 * Uses `second` if `first` is unreachable. This is safe because an unreachable implementation has not started
 * the operation.
 */
export function withFallback(first: Services, second: Services): Services {
  const callWithFallback = async <T>(call: (services: Services) => Promise<T>): Promise<T> =>
    call(first).catch(async (error: unknown) => {
      if (hasCode(error, 'SCM_UNREACHABLE')) return call(second)
      throw error
    })
  return {
    list: async (input, signal) => callWithFallback(async ({ list }) => list(input, signal)),
    put: async (input, signal) => callWithFallback(async ({ put }) => put(input, signal)),
    start: async (input, signal) => callWithFallback(async ({ start }) => start(input, signal)),
    stop: async (input, signal) => callWithFallback(async ({ stop }) => stop(input, signal)),
    remove: async (input, signal) => callWithFallback(async ({ remove }) => remove(input, signal)),
  }
}
