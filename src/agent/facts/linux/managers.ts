import type { FactSource } from '../source.ts'
import type { Fact } from './fact.ts'

const units = {
  firewalld: 'firewalld.service',
  ufw: 'ufw.service',
  docker: 'docker.service',
  // Unit of the Docker package from Ubuntu's snap store.
  dockerSnap: 'snap.docker.dockerd.service',
  networkManager: 'NetworkManager.service',
} as const

export const readFirewalls: Fact<'firewalls'> = async (source) => {
  const [active, ufw] = await Promise.all([readActiveUnits(source), source.readFile('/etc/ufw/ufw.conf')])
  return [
    ...(active.has(units.firewalld) ? (['firewalld'] as const) : []),
    // The ufw unit is active even when ufw is disabled.
    ...(active.has(units.ufw) && isUfwEnabled(ufw ?? '') ? (['ufw'] as const) : []),
    ...(active.has(units.docker) || active.has(units.dockerSnap) ? (['docker'] as const) : []),
  ]
}

export const readNetworkManager: Fact<'networkManager'> = async (source) =>
  (await readActiveUnits(source)).has(units.networkManager)

/** Queries all units with one command. Its result is cached, because two facts need it. */
async function readActiveUnits({ run }: FactSource): Promise<ReadonlySet<string>> {
  const names = Object.values(units)
  return parseActiveUnits(names, (await run(['systemctl', 'is-active', ...names])).stdout)
}

/** Parses the output of `systemctl is-active`: one state per unit, in the order of the arguments. */
export function parseActiveUnits(names: readonly string[], text: string): ReadonlySet<string> {
  const states = text.split('\n')
  return new Set(names.filter((_, index) => ['active', 'reloading'].includes(states[index] ?? '')))
}

/** True if ufw.conf enables ufw. */
export function isUfwEnabled(text: string): boolean {
  return /^\s*ENABLED\s*=\s*["']?yes/im.test(text)
}
