import type { HostAnswer } from '../../../contract/host-call.ts'
import { describe } from '../../../kit/errors.ts'
import type { CallScene } from './host-call-context.ts'

/** Services of Windows itself that nodes depend on, beside ours. */
const watched = ['hns', 'vmcompute', 'sshd', 'hyperkube-agent', 'hyperkube-revert', 'containerd']
const ours = ['apiserver-proxy', 'kubelet', 'flanneld', 'kube-proxy']

/** All that helps to find a fault, as operations give it. What cannot be seen is said in its place. */
export async function* inspect({
  host: { operations: host },
  places,
}: CallScene): AsyncGenerator<HostAnswer['answer']> {
  const looks: readonly (readonly [file: string, look: () => Promise<unknown>])[] = [
    ['system.json', async () => host.system.describe({})],
    ['services.json', async () => host.services.list({ names: [...watched, ...ours] })],
    ['processes.json', async () => host.processes.list({ below: places.base })],
    ['adapters.json', async () => host.adapters.list({})],
    ['routes.json', async () => host.routes.list({ destinations: ['0.0.0.0/0', '169.254.169.254/32'] })],
    ['networks.json', async () => host.networks.list({})],
    ['endpoints.json', async () => host.endpoints.list({})],
    ['policies.json', async () => host.policies.list({})],
    ['firewall.json', async () => host.firewall.list({ group: 'hyperkube' })],
  ]
  for (const [file, look] of looks) {
    const seen = await look().catch((error: unknown) => ({ unseen: describe(error) }))
    yield { type: 'file', file, text: JSON.stringify(seen, undefined, 2) }
  }
  yield { type: 'done' }
}
