import type { HostCallResponse } from '../../../contract/host-call.ts'
import { formatError } from '../../../kit/errors.ts'
import type { HostCallContext } from './host-call-context.ts'

/** Services that are inspected in addition to `nodeServices`. */
const systemServices = ['hns', 'vmcompute', 'sshd', 'hyperkube-agent', 'hyperkube-revert', 'containerd']
const nodeServices = ['apiserver-proxy', 'kubelet', 'flanneld', 'kube-proxy']

/**
 * Yields diagnostic files with the unchanged results of read operations. If a read fails, its file contains
 * the error.
 */
export async function* inspectWindowsHost({
  host: { operations: host },
  paths,
}: HostCallContext): AsyncGenerator<HostCallResponse['body']> {
  const inspections: readonly (readonly [file: string, read: () => Promise<unknown>])[] = [
    ['system.json', async () => host.system.describe({})],
    ['services.json', async () => host.services.list({ names: [...systemServices, ...nodeServices] })],
    ['processes.json', async () => host.processes.list({ below: paths.base })],
    ['adapters.json', async () => host.adapters.list({})],
    ['routes.json', async () => host.routes.list({ destinations: ['0.0.0.0/0', '169.254.169.254/32'] })],
    ['networks.json', async () => host.networks.list({})],
    ['endpoints.json', async () => host.endpoints.list({})],
    ['policies.json', async () => host.policies.list({})],
    ['firewall.json', async () => host.firewall.list({ group: 'hyperkube' })],
  ]
  for (const [file, read] of inspections) {
    const output = await read().catch((error: unknown) => ({ error: formatError(error) }))
    yield { type: 'file', file, text: JSON.stringify(output, undefined, 2) }
  }
  yield { type: 'done' }
}
