import { buildServiceCommand, type ScmServiceSpec } from '../../../contract/service.ts'
import type { ServiceState, WindowsServiceSpec } from '../operations/services.ts'
import { formatWindowsCommandLine } from '../powershell/command-line.ts'

/** Converts a service of a plan into the arguments of `services.put`. */
export function toWindowsServiceSpec(service: ScmServiceSpec): WindowsServiceSpec {
  const { name, description, environment, dependsOn } = service
  const { program, arguments: args } = buildServiceCommand(service)
  const [first = 0, second = 0, further = 0] = service.restartAfter
  return {
    name,
    description,
    commandLine: formatWindowsCommandLine(program, args),
    dependsOn: [...dependsOn],
    environment: Object.entries(environment).map(([variable, value]) => `${variable}=${value}`),
    restartAfter: [first, second, further],
  }
}

/**
 * The comparable settings of a service: equal text means equal settings. Restart delays are missing because
 * Windows does not report them.
 */
export function formatServiceSettings(
  service: Pick<WindowsServiceSpec, 'commandLine' | 'description' | 'dependsOn' | 'environment'>,
): string {
  const { commandLine: line, description, dependsOn, environment } = service
  return JSON.stringify({ commandLine: line, description, dependsOn, environment })
}

/** The program path of a service, parsed by the rules of Windows. */
export function parseProgramPath({ commandLine: line }: Pick<ServiceState, 'commandLine'>): string {
  return /^"([^"]+)"/.exec(line)?.[1] ?? line.split(' ')[0] ?? ''
}
