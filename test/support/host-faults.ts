import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { pollUntil } from '../../src/kit/poll.ts'

/** A fault of one host of a lab, and how the host recovers from it. */
export interface HostFault {
  readonly name: string
  inject(lab: Lab, host: Host, others: readonly Host[]): Promise<void>
  recover(lab: Lab, host: Host): Promise<void>
}

export const powerCut: HostFault = {
  name: 'power cut',
  inject: async (_lab, host) => host.powerCut(),
  recover: async (lab, { name }) => void (await lab.start(name)),
}

export const crash: HostFault = {
  name: 'crash',
  inject: async (_lab, host) => host.crash(),
  recover: async (lab, { name }) => void (await lab.start(name)),
}

export const shutdown: HostFault = {
  name: 'shutdown',
  async inject(_lab, host) {
    await host.exec(['systemctl', 'poweroff', '--no-block'])
  },
  async recover(lab, host) {
    await waitUntilOff(host)
    await lab.start(host.name)
  },
}

export async function waitUntilOff(host: Host): Promise<void> {
  await pollUntil(`${host.name} to be off`, async () => !(await host.isRunning()), {
    timeoutMs: 180_000,
    intervalMs: 500,
  })
}

/** Drops all packets between the host and the others. Clients outside of the cluster still reach the host. */
export const cutOff: HostFault = {
  name: 'cut off',
  inject: async (lab, host, others) => lab.partition(host, others),
  recover: async (lab) => lab.rejoin(),
}
