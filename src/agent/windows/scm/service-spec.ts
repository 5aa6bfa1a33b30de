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
 * Formats the settings of a service for comparison: equal text means equal settings. Restart delays are left
 * out because `services.list` does not return them.
 */
export function formatServiceSettings(
  service: Pick<WindowsServiceSpec, 'commandLine' | 'description' | 'dependsOn' | 'environment'>,
): string {
  const { commandLine: line, description, dependsOn, environment } = service
  return JSON.stringify({ commandLine: line, description, dependsOn, environment })
}

/** Returns the program path at the start of a service's command line. */
export function parseProgramPath({ commandLine: line }: Pick<ServiceState, 'commandLine'>): string {
  return /^"([^"]+)"/.exec(line)?.[1] ?? line.split(' ')[0] ?? ''
}
