import { z } from 'zod'
import { defineChange, guid, defineRead, noInput } from './operation.ts'

const optionalText = z.string().nullish()

/** A network as HNS describes it, reduced to the properties that hyperkube uses. */
const network = z
  .object({
    ID: guid,
    Name: z.string(),
    Type: z.string(),
    ManagementIP: optionalText,
    NetworkAdapterName: optionalText,
    Subnets: z.array(z.object({ AddressPrefix: optionalText, GatewayAddress: optionalText })).nullish(),
  })
  .transform((raw) => ({
    id: raw.ID,
    name: raw.Name,
    /**
     * Network type, for example overlay, l2bridge or nat. In lower case, because HNS is inconsistent about
     * capital letters.
     */
    type: raw.Type.toLowerCase(),
    managementAddress: raw.ManagementIP ?? undefined,
    adapter: raw.NetworkAdapterName ?? undefined,
    subnets: (raw.Subnets ?? []).flatMap(({ AddressPrefix }) => AddressPrefix ?? []),
  }))
export type HnsNetwork = z.output<typeof network>

const endpoint = z
  .object({
    ID: guid,
    Name: optionalText,
    VirtualNetwork: guid,
    IPAddress: optionalText,
    IsRemoteEndpoint: z.boolean().nullish(),
  })
  .transform((raw) => ({
    id: raw.ID,
    name: raw.Name ?? '',
    network: raw.VirtualNetwork,
    address: raw.IPAddress ?? undefined,
    remote: raw.IsRemoteEndpoint ?? false,
  }))

/** A policy list. kube-proxy creates policy lists for Services. */
const policyList = z
  .object({
    ID: guid,
    References: z.array(z.string()).nullish(),
    Policies: z.array(z.object({ Type: z.string(), SourceVIP: optionalText })).nullish(),
  })
  .transform((raw) => ({
    id: raw.ID,
    /** Ids of the endpoints that the policies refer to. */
    endpoints: (raw.References ?? []).map((reference) => reference.slice(reference.lastIndexOf('/') + 1)),
    types: (raw.Policies ?? []).map(({ Type }) => Type),
    sourceAddress: raw.Policies?.find(({ SourceVIP }) => SourceVIP)?.SourceVIP ?? undefined,
  }))

const byId = z.strictObject({ id: guid })

/**
 * Spec of a network. The first network on an adapter moves the adapter's address to a virtual switch, which
 * interrupts connections for a short time.
 */
const networkSpec = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9.-]{0,60}$/),
  adapter: z.string().min(1).max(256),
  subnet: z.cidrv4(),
  gateway: z.ipv4(),
  vsid: z.int().min(4096).max(65_535),
})

export const networkOperations = {
  list: defineRead({
    name: 'networks.list',
    input: noInput,
    output: z.array(network),
    uses: ['Get-HnsNetwork'],
  }),
  /** Creates an overlay network that survives a reboot, unlike the network that flannel creates. */
  create: defineChange({ name: 'networks.create', input: networkSpec, uses: ['HNSCall'] }),
  remove: defineChange({ name: 'networks.remove', input: byId, uses: ['HNSCall'] }),
}

export const endpointOperations = {
  list: defineRead({
    name: 'endpoints.list',
    input: noInput,
    output: z.array(endpoint),
    uses: ['Get-HnsEndpoint'],
  }),
  remove: defineChange({ name: 'endpoints.remove', input: byId, uses: ['HNSCall'] }),
}

export const policyOperations = {
  list: defineRead({ name: 'policies.list', input: noInput, output: z.array(policyList), uses: ['HNSCall'] }),
  remove: defineChange({ name: 'policies.remove', input: byId, uses: ['HNSCall'] }),
}
