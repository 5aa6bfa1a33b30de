import type { Machine } from './simulator/machine.ts'

/** A host as it shall be again after a reset: without times, numbers of processes, and what comes and goes by itself. */
export function lookAt(machine: Machine): object {
  // The book of host-local is not among them: on a host it is files, which are.
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
      // The login's own directory is where programs are brought to first.
      .filter(({ path }) => !path.startsWith('C:\\Users'))
      .map(({ path, access }) => ({ path, access })),
  }
}
