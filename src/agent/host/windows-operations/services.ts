import { z } from 'zod'
import { defineChange, defineRead } from './operation.ts'

/** Service names may contain only characters without a special meaning to the programs that receive them. */
export const serviceName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$/)

/** Service states in the order of their Windows numbers, which start at 1. */
export const serviceStates = [
  'Stopped',
  'Start Pending',
  'Stop Pending',
  'Running',
  'Continue Pending',
  'Pause Pending',
  'Paused',
] as const
/** Start modes in the order of their Windows numbers, which start at 0. */
export const startModes = ['Boot', 'System', 'Auto', 'Manual', 'Disabled'] as const

/** Properties of Win32_Service, completed from the registry and Get-Service. */
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
    /** 0 if the service is not running. */
    processId: raw.ProcessId,
    exitCode: raw.ExitCode,
    commandLine: raw.PathName ?? '',
    description: raw.Description ?? '',
    dependsOn: raw.DependsOn,
    environment: raw.Environment,
  }))
export type ServiceState = z.output<typeof service>

/** Desired state of a service. Applying the same spec again changes nothing. */
export const windowsServiceSpec = z.strictObject({
  name: serviceName,
  description: z.string().max(500),
  commandLine: z.string().min(1).max(8000),
  dependsOn: z.array(serviceName),
  /** Environment variables, each as NAME=VALUE. */
  environment: z.array(z.string().regex(/^[^=\0]+=[^\0]*$/)),
  /** Milliseconds before the first, the second and every further restart. */
  restartAfter: z.tuple([z.int().min(0), z.int().min(0), z.int().min(0)]),
})
export type WindowsServiceSpec = z.output<typeof windowsServiceSpec>

const nameInput = z.strictObject({ name: serviceName })

export const serviceOperations = {
  /** Lists the named services that exist. */
  list: defineRead({
    name: 'services.list',
    input: z.strictObject({ names: z.array(serviceName) }),
    output: z.array(service),
    uses: ['Get-CimInstance', 'Get-Service', 'Get-ItemProperty'],
  }),
  /** Creates or updates a service with automatic start. Neither starts nor stops it. */
  put: defineChange({
    name: 'services.put',
    input: windowsServiceSpec,
    uses: ['Get-CimInstance', 'New-Service', 'Invoke-CimMethod', 'sc.exe', 'Set-ItemProperty'],
  }),
  /**
   * Requests the start and does not wait; `list` shows the result. Does nothing if the service runs already.
   */
  start: defineChange({ name: 'services.start', input: nameInput, uses: ['Get-Service'] }),
  /** Stops a service and the services that depend on it. */
  stop: defineChange({ name: 'services.stop', input: nameInput, uses: ['Get-Service'] }),
  /** Removes a service. A missing service is not an error. */
  remove: defineChange({
    name: 'services.remove',
    input: nameInput,
    uses: ['Get-CimInstance', 'Invoke-CimMethod'],
  }),
}
