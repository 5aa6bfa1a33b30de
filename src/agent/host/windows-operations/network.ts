import { z } from 'zod'
import { defineChange, defineRead, guid, noInput } from './operation.ts'

const adapter = z
  .object({
    Name: z.string(),
    InterfaceIndex: z.int(),
    Status: z.string(),
    MacAddress: z.string().nullable(),
    Virtual: z.boolean(),
    Addresses: z.array(z.object({ IPAddress: z.ipv4(), PrefixLength: z.int() })),
  })
  .transform((raw) => ({
    name: raw.Name,
    index: raw.InterfaceIndex,
    up: raw.Status === 'Up',
    macAddress: raw.MacAddress ?? '',
    /** True for the host side of a virtual switch: `vEthernet (NAME)`. */
    virtual: raw.Virtual,
    addresses: raw.Addresses.map(({ IPAddress, PrefixLength }) => ({
      address: IPAddress,
      prefix: PrefixLength,
    })),
  }))
export type Adapter = z.output<typeof adapter>

/**
 * Operations on network adapters. Virtual switches are recognized by their adapters, because the commands for
 * switches need Hyper-V, which a node may not have.
 */
export const adapterOperations = {
  list: defineRead({
    name: 'adapters.list',
    input: noInput,
    output: z.array(adapter),
    uses: ['Get-NetAdapter', 'Get-NetIPAddress'],
  }),
}

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

const listener = z
  .object({ LocalPort: z.int().min(0), OwningProcess: z.int().min(0) })
  .transform(({ LocalPort, OwningProcess }) => ({ port: LocalPort, process: OwningProcess }))

/** Operations on listening TCP ports. A port is listed once for each address. */
export const portOperations = {
  list: defineRead({
    name: 'ports.list',
    input: noInput,
    output: z.array(listener),
    uses: ['Get-NetTCPConnection'],
  }),
}
