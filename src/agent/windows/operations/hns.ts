import { z } from 'zod'
import { changing, guid, looking, noInput } from './operation.ts'

const missing = z.string().nullish()

/** What HNS itself says of a network. Of all its properties only those that anybody here asks for. */
const network = z
  .object({
    ID: guid,
    Name: z.string(),
    Type: z.string(),
    ManagementIP: missing,
    NetworkAdapterName: missing,
    Subnets: z.array(z.object({ AddressPrefix: missing, GatewayAddress: missing })).nullish(),
  })
  .transform((raw) => ({
    id: raw.ID,
    name: raw.Name,
    /** overlay, l2bridge, nat, …: HNS writes it now with a capital, now without. */
    type: raw.Type.toLowerCase(),
    managementAddress: raw.ManagementIP ?? undefined,
    adapter: raw.NetworkAdapterName ?? undefined,
    subnets: (raw.Subnets ?? []).flatMap(({ AddressPrefix }) => AddressPrefix ?? []),
  }))
export type HnsNetwork = z.output<typeof network>

const endpoint = z
  .object({
    ID: guid,
    Name: missing,
    VirtualNetwork: guid,
    IPAddress: missing,
    IsRemoteEndpoint: z.boolean().nullish(),
  })
  .transform((raw) => ({
    id: raw.ID,
    name: raw.Name ?? '',
    network: raw.VirtualNetwork,
    address: raw.IPAddress ?? undefined,
    remote: raw.IsRemoteEndpoint ?? false,
  }))

/** A list of policies: what kube-proxy makes of a service. */
const policyList = z
  .object({
    ID: guid,
    References: z.array(z.string()).nullish(),
    Policies: z.array(z.object({ Type: z.string(), SourceVIP: missing })).nullish(),
  })
  .transform((raw) => ({
    id: raw.ID,
    /** The endpoints that it leads to. */
    endpoints: (raw.References ?? []).map((reference) => reference.slice(reference.lastIndexOf('/') + 1)),
    types: (raw.Policies ?? []).map(({ Type }) => Type),
    sourceAddress: raw.Policies?.find(({ SourceVIP }) => SourceVIP)?.SourceVIP ?? undefined,
  }))

const byId = z.strictObject({ id: guid })

/** The first network on an adapter moves the adapter's address to a switch: connections break, and come back. */
const switchWish = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9.-]{0,60}$/),
  adapter: z.string().min(1).max(256),
  subnet: z.cidrv4(),
  gateway: z.ipv4(),
  vsid: z.int().min(4096).max(65_535),
})

export const networks = {
  list: looking({
    name: 'networks.list',
    input: noInput,
    output: z.array(network),
    uses: ['Get-HnsNetwork'],
  }),
  /** An overlay network that stays over a restart of the host, as flannel's does not. */
  create: changing({ name: 'networks.create', input: switchWish, uses: ['HNSCall'] }),
  remove: changing({ name: 'networks.remove', input: byId, uses: ['HNSCall'] }),
}

export const endpoints = {
  list: looking({
    name: 'endpoints.list',
    input: noInput,
    output: z.array(endpoint),
    uses: ['Get-HnsEndpoint'],
  }),
  remove: changing({ name: 'endpoints.remove', input: byId, uses: ['HNSCall'] }),
}

export const policies = {
  list: looking({ name: 'policies.list', input: noInput, output: z.array(policyList), uses: ['HNSCall'] }),
  remove: changing({ name: 'policies.remove', input: byId, uses: ['HNSCall'] }),
}
