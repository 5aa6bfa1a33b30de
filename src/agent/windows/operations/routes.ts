import { z } from 'zod'
import { defineChange, defineRead } from './operation.ts'

const route = z
  .object({
    DestinationPrefix: z.string(),
    NextHop: z.string(),
    InterfaceIndex: z.int(),
    RouteMetric: z.int(),
  })
  .transform((raw) => ({
    destination: raw.DestinationPrefix,
    nextHop: raw.NextHop,
    interfaceIndex: raw.InterfaceIndex,
    metric: raw.RouteMetric,
  }))
export type WindowsRoute = z.output<typeof route>

const key = { destination: z.cidrv4(), nextHop: z.ipv4(), interfaceIndex: z.int().min(1) }

export const routeOperations = {
  /** Lists all routes to these destinations. */
  list: defineRead({
    name: 'routes.list',
    input: z.strictObject({ destinations: z.array(z.cidrv4()) }),
    output: z.array(route),
    uses: ['Get-NetRoute'],
  }),
  /**
   * Adds a route that lasts until the next boot. Persistent routes would break services that add the same
   * route at boot.
   */
  add: defineChange({
    name: 'routes.add',
    input: z.strictObject({ ...key, metric: z.int().min(1).max(9999) }),
    uses: ['Get-NetRoute', 'New-NetRoute'],
  }),
  remove: defineChange({
    name: 'routes.remove',
    input: z.strictObject(key),
    uses: ['Get-NetRoute', 'Remove-NetRoute'],
  }),
}
