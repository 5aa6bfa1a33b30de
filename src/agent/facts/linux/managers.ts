import type { FactSource } from '../source.ts'
import type { Fact } from './fact.ts'

const units = {
  firewalld: 'firewalld.service',
  ufw: 'ufw.service',
  docker: 'docker.service',
  // As Ubuntu's store has it.
  dockerSnap: 'snap.docker.dockerd.service',
  networkManager: 'NetworkManager.service',
} as const

export const firewalls: Fact<'firewalls'> = async (source) => {
  const [active, ufw] = await Promise.all([activeUnits(source), source.readFile('/etc/ufw/ufw.conf')])
  return [
    ...(active.has(units.firewalld) ? (['firewalld'] as const) : []),
    // Its unit is active even where it was told to do nothing.
    ...(active.has(units.ufw) && isUfwEnabled(ufw ?? '') ? (['ufw'] as const) : []),
    ...(active.has(units.docker) || active.has(units.dockerSnap) ? (['docker'] as const) : []),
  ]
}

export const networkManager: Fact<'networkManager'> = async (source) =>
  (await activeUnits(source)).has(units.networkManager)

/** All are asked for at once: the same question is asked only once. */
async function activeUnits({ run }: FactSource): Promise<ReadonlySet<string>> {
  const names = Object.values(units)
  return parseStates(names, (await run(['systemctl', 'is-active', ...names])).stdout)
}

/** systemctl says one word for each unit, in the order in which it was asked. */
export function parseStates(names: readonly string[], text: string): ReadonlySet<string> {
  const states = text.split('\n')
  return new Set(names.filter((_, index) => ['active', 'reloading'].includes(states[index] ?? '')))
}

/** From the text of ufw.conf. */
export function isUfwEnabled(text: string): boolean {
  return /^\s*ENABLED\s*=\s*["']?yes/im.test(text)
}
