import type { Host } from '../../lab/hosts/host.ts'
import { cutOff, type HostFault, powerCut, shutdown } from './host-faults.ts'

const service = 'kube-apiserver.service'
const keepalived = 'hyperkube-keepalived.service'
const nothing = async (): Promise<void> => undefined

/** Sends a signal to all processes of a unit. */
async function signal(host: Host, name: string, unit: string): Promise<void> {
  await host.exec(['systemctl', 'kill', `--signal=${name}`, '--kill-who=all', unit])
}

/** Faults of the control plane that has the virtual IP. */
export const virtualIpFaults: readonly HostFault[] = [
  powerCut,
  { ...cutOff, name: 'cut off from the other control planes' },
  shutdown,
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
