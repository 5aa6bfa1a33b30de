import { z } from 'zod'
import type { Format } from './versioned.ts'

/** Rules of a host's firewall are ours when they are in this group. */
export const firewallGroup = 'hyperkube'

/** Below the directory that is ours on a Windows host. */
export const windowsNetworkFile = String.raw`settings\host\network.json`

/** As HNS knows it; a name of ours means nothing to any program which it is handed to. */
const networkName = z.string().regex(/^[a-z][a-z0-9.-]{0,60}$/)

const windowsNetwork = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('WindowsNetwork'),
  /** By which others know the host; its adapter is the one that has it. */
  address: z.union([z.ipv4(), z.ipv6()]),
  /** Destinations that stay reachable through that adapter: a switch that takes it takes their routes away. */
  metadata: z.array(z.cidrv4()).readonly(),
  /** Without one, the network of pods is somebody else's. */
  overlay: z
    .strictObject({
      /** A network that does nothing but keep the switch, so that flannel's may come and go without breaking connections. */
      hold: z.strictObject({
        name: networkName,
        subnet: z.cidrv4(),
        gateway: z.ipv4(),
        vsid: z.int().min(4096).max(65_535),
      }),
      /** The network of pods, which flannel makes. */
      network: z.strictObject({ name: networkName, type: z.literal('overlay') }),
    })
    .optional(),
})

/** What of a Windows host's own network can come apart by itself, and is kept: written by the plan, read by the agent. */
export type WindowsNetwork = z.infer<typeof windowsNetwork>

export const windowsNetworkFormat: Format<WindowsNetwork> = {
  kind: 'WindowsNetwork',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: windowsNetwork },
  older: [],
}
