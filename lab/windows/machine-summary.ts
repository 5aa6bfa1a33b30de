import type { Machine } from './simulator/machine.ts'

/** The state of a host that a reset must restore, without times, process ids and transient data. */
export function summarizeMachine(machine: Machine): object {
  // host-local's addresses are missing here, because on a host they are files, which are included.
  const { services, networks, endpoints, policies, routes, rules, environment, adapters, files } = machine
  return {
    services: [...services.values()].map(({ name, commandLine, description, state }) => ({
      name,
      commandLine,
      description,
      state,
    })),
    networks: networks.map(({ name, type, subnet }) => ({ name, type, subnet })),
    endpoints: endpoints.map(({ name, address }) => ({ name, address })),
    policies: policies.length,
    adapters: adapters.map(({ name, virtual, addresses }) => ({ name, virtual, addresses })),
    routes: routes
      .map(({ destination, nextHop, metric }) => ({ destination, nextHop, metric }))
      .toSorted((a, b) => a.destination.localeCompare(b.destination)),
    rules: [...rules.values()],
    environment: [...environment],
    files: files
      .all()
      // The login's own directory is excluded, because programs are uploaded there first.
      .filter(({ path }) => !path.startsWith('C:\\Users'))
      .map(({ path, access }) => ({ path, access })),
  }
}
