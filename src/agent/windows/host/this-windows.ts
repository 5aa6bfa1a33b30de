import { tmpdir } from 'node:os'
import { hasCode } from '../../../kit/errors.ts'
import { systemClock } from '../../host/clock.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import { powershellHost } from '../powershell/powershell-host.ts'
import { hostScript } from '../powershell/script.ts'
import { connectManager, managerPipe } from '../svcctl/connection.ts'
import { svcctlServices } from '../svcctl/services.ts'
import { registrySettings } from '../svcctl/service-settings.ts'
import { windowsCommand } from './windows-command.ts'

export interface ThisWindows extends AsyncDisposable {
  readonly host: WindowsOperations
}

/** The Windows that we run on: services by their manager, all else by PowerShell. */
export async function thisWindows(): Promise<ThisWindows> {
  const powershell = powershellHost({ script: await hostScript() })
  const services = preferred(managedServices(), powershell.host.services)
  return {
    host: { ...powershell.host, services },
    [Symbol.asyncDispose]: async () => powershell[Symbol.asyncDispose](),
  }
}

export function managedServices(): WindowsOperations['services'] {
  const systemRoot = process.env['SystemRoot'] ?? String.raw`C:\Windows`
  return svcctlServices({
    connect: async (signal) => connectManager(managerPipe, signal),
    settings: registrySettings(systemRoot, tmpdir(), windowsCommand(systemRoot)),
    clock: systemClock,
  })
}

type Services = WindowsOperations['services']

/** The second for whatever the first could not be asked for: then nothing was begun. */
export function preferred(first: Services, second: Services): Services {
  const either = async <T>(ask: (services: Services) => Promise<T>): Promise<T> =>
    ask(first).catch(async (error: unknown) => {
      if (hasCode(error, 'SCM_UNREACHABLE')) return ask(second)
      throw error
    })
  return {
    list: async (wish, signal) => either(async ({ list }) => list(wish, signal)),
    put: async (wish, signal) => either(async ({ put }) => put(wish, signal)),
    start: async (wish, signal) => either(async ({ start }) => start(wish, signal)),
    stop: async (wish, signal) => either(async ({ stop }) => stop(wish, signal)),
    remove: async (wish, signal) => either(async ({ remove }) => remove(wish, signal)),
  }
}
