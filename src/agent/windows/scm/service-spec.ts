import { commandOf, type ScmService } from '../../../contract/service.ts'
import type { ServiceState, ServiceWish } from '../operations/services.ts'
import { commandLine } from '../powershell/command-line.ts'

/** A service of a plan in the words of the manager of Windows. */
export function serviceWish(service: ScmService): ServiceWish {
  const { name, description, environment, dependsOn } = service
  const { program, arguments: args } = commandOf(service)
  const [first = 0, second = 0, further = 0] = service.restartAfter
  return {
    name,
    description,
    commandLine: commandLine(program, args),
    dependsOn: [...dependsOn],
    environment: Object.entries(environment).map(([variable, value]) => `${variable}=${value}`),
    restartAfter: [first, second, further],
  }
}

/** What of a service can be compared: the same text means the same service. How soon it is started again nobody tells. */
export function settingsText(
  service: Pick<ServiceWish, 'commandLine' | 'description' | 'dependsOn' | 'environment'>,
): string {
  const { commandLine: line, description, dependsOn, environment } = service
  return JSON.stringify({ commandLine: line, description, dependsOn, environment })
}

/** The program that a service runs, by the rules of Windows. */
export function programIn({ commandLine: line }: Pick<ServiceState, 'commandLine'>): string {
  return /^"([^"]+)"/.exec(line)?.[1] ?? line.split(' ')[0] ?? ''
}
