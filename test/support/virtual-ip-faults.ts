import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { pollUntil } from '../../src/kit/poll.ts'

/** A fault of the control plane that has the virtual IP. */
export interface VirtualIpFault {
  readonly name: string
  inject(lab: Lab, holder: Host, others: readonly Host[]): Promise<void>
  recover(lab: Lab, holder: Host): Promise<void>
}

const service = 'kube-apiserver.service'
const keepalived = 'hyperkube-keepalived.service'
const nothing = async (): Promise<void> => undefined

/** Sends a signal to all processes of a unit. */
async function signal(host: Host, name: string, unit: string): Promise<void> {
  await host.exec(['systemctl', 'kill', `--signal=${name}`, '--kill-who=all', unit])
}

export const virtualIpFaults: readonly VirtualIpFault[] = [
  {
    name: 'power cut',
    inject: async (_lab, holder) => holder.powerCut(),
    recover: async (lab, { name }) => void (await lab.start(name)),
  },
  {
    name: 'cut off from the other control planes',
    inject: async (lab, holder, others) => lab.partition(holder, others),
    recover: async (lab) => lab.rejoin(),
  },
  {
    name: 'shutdown',
    async inject(_lab, holder) {
      await holder.exec(['systemctl', 'poweroff', '--no-block'])
    },
    async recover(lab, holder) {
      await pollUntil('the host to be off', async () => !(await holder.isRunning()), {
        timeoutMs: 180_000,
        intervalMs: 500,
      })
      await lab.start(holder.name)
    },
  },
  {
    name: 'API server stopped',
    async inject(_lab, holder) {
      await holder.exec(['systemctl', 'stop', '--no-block', service])
    },
    async recover(_lab, holder) {
      await holder.exec(['systemctl', 'start', service])
    },
  },
  {
    name: 'API server killed',
    inject: async (_lab, holder) => signal(holder, 'SIGKILL', service),
    recover: nothing,
  },
  {
    name: 'API server hung',
    inject: async (_lab, holder) => signal(holder, 'SIGSTOP', service),
    recover: async (_lab, holder) => signal(holder, 'SIGCONT', service),
  },
  {
    name: 'keepalived killed',
    inject: async (_lab, holder) => signal(holder, 'SIGKILL', keepalived),
    recover: nothing,
  },
  {
    name: 'keepalived hung',
    inject: async (_lab, holder) => signal(holder, 'SIGSTOP', keepalived),
    recover: nothing,
  },
]
