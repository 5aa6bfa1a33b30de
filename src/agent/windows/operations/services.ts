import { z } from 'zod'
import { changing, looking } from './operation.ts'

/** Letters that mean nothing to any program which a name is handed to. */
export const serviceName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$/)

/** By their numbers in Windows, from 1 on. */
export const serviceStates = [
  'Stopped',
  'Start Pending',
  'Stop Pending',
  'Running',
  'Continue Pending',
  'Pause Pending',
  'Paused',
] as const
/** The same, from 0 on. */
export const startModes = ['Boot', 'System', 'Auto', 'Manual', 'Disabled'] as const

/** Win32_Service, with what it does not know from the registry and from Get-Service. */
const service = z
  .object({
    Name: z.string(),
    State: z.enum([...serviceStates, 'Unknown']),
    StartMode: z.enum([...startModes, 'Unknown']),
    ProcessId: z.int(),
    ExitCode: z.int(),
    PathName: z.string().nullable(),
    Description: z.string().nullable(),
    DependsOn: z.array(z.string()),
    Environment: z.array(z.string()),
  })
  .transform((raw) => ({
    name: raw.Name,
    state: raw.State,
    startMode: raw.StartMode,
    /** 0 while nothing runs. */
    processId: raw.ProcessId,
    exitCode: raw.ExitCode,
    commandLine: raw.PathName ?? '',
    description: raw.Description ?? '',
    dependsOn: raw.DependsOn,
    environment: raw.Environment,
  }))
export type ServiceState = z.output<typeof service>

/** A wish that holds after any number of times. */
export const serviceWish = z.strictObject({
  name: serviceName,
  description: z.string().max(500),
  commandLine: z.string().min(1).max(8000),
  dependsOn: z.array(serviceName),
  /** NAME=VALUE each. */
  environment: z.array(z.string().regex(/^[^=\0]+=[^\0]*$/)),
  /** Milliseconds before the first, the second and every further restart. */
  restartAfter: z.tuple([z.int().min(0), z.int().min(0), z.int().min(0)]),
})
export type ServiceWish = z.output<typeof serviceWish>

const named = z.strictObject({ name: serviceName })

export const services = {
  /** Those of the names that are there. */
  list: looking({
    name: 'services.list',
    input: z.strictObject({ names: z.array(serviceName) }),
    output: z.array(service),
    uses: ['Get-CimInstance', 'Get-Service', 'Get-ItemProperty'],
  }),
  /** Makes it, or makes it like this; it starts with the host, and is neither started nor stopped now. */
  put: changing({
    name: 'services.put',
    input: serviceWish,
    uses: ['Get-CimInstance', 'New-Service', 'Invoke-CimMethod', 'sc.exe', 'Set-ItemProperty'],
  }),
  /** Only asked for: `list` tells what came of it. One that runs is left alone. */
  start: changing({ name: 'services.start', input: named, uses: ['Get-Service'] }),
  /** With those that depend on it. */
  stop: changing({ name: 'services.stop', input: named, uses: ['Get-Service'] }),
  /** One that is not there is no mistake. */
  remove: changing({
    name: 'services.remove',
    input: named,
    uses: ['Get-CimInstance', 'Invoke-CimMethod'],
  }),
}
