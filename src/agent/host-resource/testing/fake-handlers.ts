import { mkdir } from 'node:fs/promises'
import type { HostAction } from '../../../contract/host-resource.ts'
import type { LinuxHost } from '../../host/host.ts'
import { type TemporaryHost, createTemporaryHost } from '../../host/testing/temporary-host.ts'
import type { RequestHandlers } from '../request-handlers.ts'

const file = '/run/handled-requests'

/** For tests: handlers that only append a line to a file on the host. */
export function createFakeHandlers(host: LinuxHost): RequestHandlers {
  const record = async (action: HostAction): Promise<readonly string[]> => {
    await host.files.append(file, `${JSON.stringify(action)}\n`, 0o600)
    return [action.type]
  }
  return {
    check: record,
    'capture-logs': record,
    'renew-certificates': record,
    'defragment-etcd': record,
    'take-snapshot': record,
  }
}

/** Lists all actions that were handled on a host, in order. */
export async function listHandled(host: LinuxHost): Promise<unknown[]> {
  const text = (await host.files.read(file))?.toString('utf8') ?? ''
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))
}

/** Creates a host that has the agent's state directory. */
export async function createHostWithAgent(): Promise<TemporaryHost & AsyncDisposable> {
  const host = await createTemporaryHost()
  await mkdir(host.toLocalPath(host.layout.state), { recursive: true })
  return host
}
