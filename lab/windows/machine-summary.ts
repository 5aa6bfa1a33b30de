import type { Machine } from './simulator/machine.ts'

/** Returns the state of a host that a reset must restore, without times, process ids and transient data. */
export function summarizeMachine(machine: Machine): object {
  // The addresses that host-local has reserved are left out, because a lab host stores them in files. The
  // files are part of the summary.
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
      // The home directory is left out, because operators upload programs there.
      .filter(({ path }) => !path.startsWith('C:\\Users'))
      .map(({ path, access }) => ({ path, access })),
  }
}
