import type { Handlers } from './handler.ts'
import type { Machine, SimulatedRoute } from './machine.ts'
import { addNetwork, removeNetwork } from './virtual-switch.ts'

type Parts = Pick<
  Handlers,
  'networks' | 'endpoints' | 'policies' | 'adapters' | 'routes' | 'ports' | 'firewall'
>

export function networkHandlers(machine: Machine): Parts {
  const requireHns = (): void => {
    if (machine.services.get('hns')?.state !== 'Running')
      throw new Error('The service has not been started. (HNS)')
  }
  return {
    networks: {
      list() {
        requireHns()
        return machine.networks.map(({ id, name, type, subnet, adapter, managementAddress }) => ({
          ID: id.toUpperCase(),
          Name: name,
          Type: type,
          Subnets: [{ AddressPrefix: subnet, GatewayAddress: null }],
          // HNS omits properties without a value.
          ...(managementAddress === undefined ? {} : { ManagementIP: managementAddress }),
          ...(adapter === undefined ? {} : { NetworkAdapterName: adapter }),
        }))
      },
      create({ name, subnet, adapter }) {
        requireHns()
        if (!machine.adapters.some((one) => one.name === adapter && !one.virtual))
          throw new Error('The parameter is incorrect. (HNS)')
        addNetwork(machine, { name, subnet, adapter, type: 'Overlay', persistent: true })
        return []
      },
      remove({ id }) {
        requireHns()
        if (!machine.networks.some((network) => network.id === id))
          throw new Error('Element not found. (HNS)')
        removeNetwork(machine, id)
        return []
      },
    },
    endpoints: {
      list: () =>
        machine.endpoints.map(({ id, name, network, address }) => ({
          ID: id,
          Name: name,
          VirtualNetwork: network.toUpperCase(),
          IPAddress: address,
          ...(name === 'remote' ? { IsRemoteEndpoint: true } : {}),
        })),
      remove({ id }) {
        machine.endpoints = machine.endpoints.filter((endpoint) => endpoint.id !== id)
        return []
      },
    },
    policies: {
      list: () =>
        machine.policies.map(({ id, endpoints, sourceAddress }) => ({
          ID: id,
          References: endpoints.map((endpoint) => `/endpoints/${endpoint}`),
          Policies: [{ Type: 'ELB', SourceVIP: sourceAddress }],
        })),
      remove({ id }) {
        machine.policies = machine.policies.filter((policy) => policy.id !== id)
        return []
      },
    },
    adapters: {
      list: () =>
        machine.adapters.map(({ name, index, virtual, downUntil, addresses }) => ({
          Name: name,
          InterfaceIndex: index,
          Status: downUntil <= machine.time ? 'Up' : 'Disconnected',
          MacAddress: '00-15-5D-00-00-07',
          Virtual: virtual,
          Addresses: downUntil <= machine.time ? addresses : [],
        })),
    },
    routes: {
      list: ({ destinations }) =>
        machine.routes
          .filter(({ destination }) => destinations.includes(destination))
          .map(({ destination, nextHop, interfaceIndex, metric }) => ({
            DestinationPrefix: destination,
            NextHop: nextHop,
            InterfaceIndex: interfaceIndex,
            RouteMetric: metric,
          })),
      add(spec) {
        if (!machine.adapters.some(({ index }) => index === spec.interfaceIndex))
          throw new Error('Element not found.')
        if (!machine.routes.some((route) => isSameRoute(route, spec))) machine.routes.push({ ...spec })
        return []
      },
      remove(spec) {
        machine.routes = machine.routes.filter((route) => !isSameRoute(route, spec))
        return []
      },
    },
    ports: {
      list: () => {
        const listening = [...machine.processes.values()].find(({ program }) =>
          program.endsWith('\\kubelet.exe'),
        )
        return listening === undefined ? [] : [{ LocalPort: 10_250, OwningProcess: listening.id }]
      },
    },
    firewall: {
      list: ({ group }) =>
        [...machine.rules.values()]
          .filter((rule) => rule.group === group)
          .map(({ name, enabled, protocol, ports }) => ({
            Name: name,
            Group: group,
            Enabled: enabled ? ('True' as const) : ('False' as const),
            Direction: 'Inbound' as const,
            Action: 'Allow',
            Protocol: protocol,
            LocalPort: [ports],
          })),
      put({ name, group, protocol, ports }) {
        const previous = machine.rules.get(name)
        if (previous !== undefined && previous.group !== group)
          throw new Error(`the rule ${name} is of another group`)
        machine.rules.set(name, { name, group, enabled: true, protocol: protocol.toUpperCase(), ports })
        return []
      },
      remove({ name, group }) {
        if (machine.rules.get(name)?.group === group) machine.rules.delete(name)
        return []
      },
    },
  }
}

type Key = Pick<SimulatedRoute, 'destination' | 'nextHop' | 'interfaceIndex'>

function isSameRoute(a: Key, b: Key): boolean {
  return a.destination === b.destination && a.nextHop === b.nextHop && a.interfaceIndex === b.interfaceIndex
}
