import type { Machine } from './simulator/machine.ts'

/** Returns the state of a host that a reset must restore, without times, process ids and transient data. */
export function summarizeMachine(machine: Machine): object {
  // The addresses of host-local are left out, because on a lab host they are stored in files, which are
  // included.
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
      // The home directory is left out, because programs are uploaded there.
      .filter(({ path }) => !path.startsWith('C:\\Users'))
      .map(({ path, access }) => ({ path, access })),
  }
}
