import { z } from 'zod'
import type { Format } from './versioned.ts'

/** Group of all firewall rules that hyperkube owns. */
export const firewallGroup = 'hyperkube'

/** Relative to our base directory on a Windows host. */
export const windowsNetworkFile = String.raw`settings\host\network.json`

/** Name in HNS. The pattern keeps it free of characters with a meaning for any program. */
const networkName = z.string().regex(/^[a-z][a-z0-9.-]{0,60}$/)

const windowsNetwork = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('WindowsNetwork'),
  /** Address at which other hosts reach this one; it selects the adapter. */
  address: z.union([z.ipv4(), z.ipv6()]),
  /**
   * Destinations that must stay reachable through that adapter: a switch that takes it over removes their
   * routes.
   */
  metadata: z.array(z.cidrv4()).readonly(),
  /** Absent if another product provides the pod network. */
  overlay: z
    .strictObject({
      /**
       * A network that only keeps the switch alive, so that flannel's network can be recreated without
       * breaking connections.
       */
      anchor: z.strictObject({
        name: networkName,
        subnet: z.cidrv4(),
        gateway: z.ipv4(),
        vsid: z.int().min(4096).max(65_535),
      }),
      /** The pod network, created by flannel. */
      network: z.strictObject({ name: networkName, type: z.literal('overlay') }),
    })
    .optional(),
})

/**
 * The parts of a Windows host's network that can break by themselves and are repaired: written by the plan,
 * read by the agent.
 */
export type WindowsNetwork = z.infer<typeof windowsNetwork>

export const windowsNetworkFormat: Format<WindowsNetwork> = {
  kind: 'WindowsNetwork',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: windowsNetwork },
  older: [],
}
