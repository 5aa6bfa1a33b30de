import { z } from 'zod'
import { changing, looking } from './operation.ts'

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
export type Route = z.output<typeof route>

const key = { destination: z.cidrv4(), nextHop: z.ipv4(), interfaceIndex: z.int().min(1) }

export const routes = {
  /** All routes to any of these. */
  list: looking({
    name: 'routes.list',
    input: z.strictObject({ destinations: z.array(z.cidrv4()) }),
    output: z.array(route),
    uses: ['Get-NetRoute'],
  }),
  /** Until the host restarts: what starts with the host makes some of them itself, and fails over those that are there. */
  add: changing({
    name: 'routes.add',
    input: z.strictObject({ ...key, metric: z.int().min(1).max(9999) }),
    uses: ['Get-NetRoute', 'New-NetRoute'],
  }),
  remove: changing({
    name: 'routes.remove',
    input: z.strictObject(key),
    uses: ['Get-NetRoute', 'Remove-NetRoute'],
  }),
}
