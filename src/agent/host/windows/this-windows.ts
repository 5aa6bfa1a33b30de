import { tmpdir } from 'node:os'
import { win32 } from 'node:path'
import { runProgram, toCommandError } from '../../../kit/command.ts'
import { hasCode } from '../../../kit/errors.ts'
import { systemClock } from '../clock.ts'
import type { RunCommand } from '../command.ts'
import type { WindowsOperations } from '../windows-operations/table.ts'
import { powershellHost } from './powershell/powershell-host.ts'
import { readHostScript } from './powershell/session.ts'
import { connectServiceManager, serviceManagerPipe } from './svcctl/connection.ts'
import { registrySettings } from './svcctl/service-settings.ts'
import { svcctlServices } from './svcctl/services.ts'

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

/**
 * Runs programs of a Windows host with a fixed environment, regardless of how hyperkube was started. Windows
 * programs do not start without SystemRoot.
 */
export function windowsCommand(systemRoot: string): RunCommand {
  const system = win32.join(systemRoot, 'System32')
  const env = {
    SystemRoot: systemRoot,
    PATH: `${system};${systemRoot}`,
    TEMP: win32.join(systemRoot, 'Temp'),
  }
  return async (argv, { codes = [0], input, signal } = {}) => {
    const result = await runProgram(argv, {
      env,
      allowFailure: true,
      ...(input === undefined ? {} : { input }),
      ...(signal === undefined ? {} : { signal }),
    })
    if (codes.includes(result.code)) return result
    throw toCommandError(argv.join(' '), result)
  }
}
