import { z } from 'zod'
import type { Format } from './versioned.ts'

/** Group name of all Windows firewall rules that hyperkube creates. */
export const firewallGroup = 'hyperkube'

/** Path of the WindowsNetwork file, relative to hyperkube's base directory on a Windows host. */
export const windowsNetworkFile = String.raw`settings\host\network.json`

/**
 * Name of an HNS network. The pattern excludes characters with a special meaning in shells or other programs.
 */
const networkName = z.string().regex(/^[a-z][a-z0-9.-]{0,60}$/)

const windowsNetwork = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('WindowsNetwork'),
  /** Address at which other hosts reach this host. The adapter with this address carries the pod network. */
  address: z.union([z.ipv4(), z.ipv6()]),
  /**
   * Destinations of cloud metadata services. Their routes are restored after a virtual switch has taken over
   * the adapter and removed them.
   */
  metadata: z.array(z.cidrv4()).readonly(),
  /** Absent if other software provides the pod network. */
  overlay: z
    .strictObject({
      /**
       * HNS network that only keeps the virtual switch alive, so that flannel's network can be recreated
       * without breaking connections.
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
 * The parts of a Windows host's network that the agent repairs if they are lost. The file is part of the
 * plan.
 */
export type WindowsNetwork = z.infer<typeof windowsNetwork>

export const windowsNetworkFormat: Format<WindowsNetwork> = {
  kind: 'WindowsNetwork',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: windowsNetwork },
  older: [],
}

/**
 * Route destinations of cloud metadata services. A Windows host loses these routes when a virtual switch
 * takes over its adapter.
 */
export const cloudMetadata = {
  none: [],
  // Addresses in order: metadata service, time, Windows licensing (two addresses) and DNS.
  aws: [
    '169.254.169.254/32',
    '169.254.169.123/32',
    '169.254.169.250/32',
    '169.254.169.251/32',
    '169.254.169.253/32',
  ],
  azure: ['169.254.169.254/32'],
  gcp: ['169.254.169.254/32'],
} as const

/** Metadata destinations of all clouds. The agent checks which of them have a route. */
export const metadataDestinations: readonly string[] = [
  ...new Set<string>(Object.values(cloudMetadata).flat()),
].toSorted()
