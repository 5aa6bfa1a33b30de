import { z } from 'zod'
import { podSettings, type Settings } from './addons.ts'
import { parseAddressSpan } from './cidr.ts'
import { settingsOrNone } from './scalars.ts'

const addresses = z
  .string('must be text')
  .refine(
    (text) => parseAddressSpan(text) !== undefined,
    'must be a network such as 192.168.1.240/29, or a range such as 192.168.1.240-192.168.1.249',
  )
  .meta({ id: 'AddressSpan', description: 'A network, or the first and the last address of a range.' })

const autonomousSystem = z
  .int('must be a number')
  .min(1, 'must be at least 1')
  .max(4_294_967_295, 'must be at most 4294967295')

const bgp = z
  .strictObject({
    asn: autonomousSystem.meta({ description: 'Autonomous system number of the nodes.' }),
    peers: z
      .array(
        z.strictObject({
          address: z.ipv4('must be an IPv4 address').meta({ description: 'Address of the router.' }),
          asn: autonomousSystem.meta({ description: 'Autonomous system number of the router.' }),
        }),
      )
      .min(1, 'needs at least one peer')
      .meta({ description: 'Routers to which every node opens a BGP session.' }),
  })
  .meta({ id: 'LoadBalancerBgp', description: 'BGP sessions of the nodes.' })

/** Ports of MetalLB's speaker, which runs in the network of the host. */
export const speakerPorts = { members: 7946, metrics: 9120, health: 17_472 } as const

export const loadBalancerSchema = settingsOrNone(
  z
    .strictObject({
      addresses: z.array(addresses).min(1, 'needs at least one network or range').meta({
        description:
          'Addresses for Services of the type LoadBalancer. No other machine may use them. Addresses that end with .0 or .255 are not given to Services.',
      }),
      bgp: bgp.optional().meta({
        description: 'Routers learn the addresses by BGP. Default: one node responds to ARP (layer 2).',
      }),
      ...podSettings,
      nodeSelector: podSettings.nodeSelector.meta({
        description:
          'Node labels that the speaker requires, in addition to Linux. Only these nodes get traffic.',
      }),
    })
    .meta({
      id: 'LoadBalancer',
      description:
        'MetalLB: addresses for Services of the type LoadBalancer. tolerations and nodeSelector apply to its speaker.',
    }),
).meta({ description: 'MetalLB, or `none`, the default.' })

export type LoadBalancerSettings = Settings<typeof loadBalancerSchema>
