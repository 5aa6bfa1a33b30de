import { mkdir } from 'node:fs/promises'
import type { HostAsk } from '../../../contract/host-resource.ts'
import type { LinuxHost } from '../../host/host.ts'
import { type TemporaryHost, temporaryHost } from '../../host/testing/temporary-host.ts'
import type { Deeds } from '../request-handlers.ts'

const file = '/run/deeds'

/** For tests: deeds that leave a line on the host, and nothing else. */
export function testDeeds(host: LinuxHost): Deeds {
  const note = async (ask: HostAsk): Promise<readonly string[]> => {
    await host.files.append(file, `${JSON.stringify(ask)}\n`, 0o600)
    return [ask.type]
  }
  return {
    check: note,
    'capture-logs': note,
    'renew-certificates': note,
    'defragment-etcd': note,
    'take-snapshot': note,
  }
}

/** All that was really done on a host, in order. */
export async function doneOn(host: LinuxHost): Promise<unknown[]> {
  const text = (await host.files.read(file))?.toString('utf8') ?? ''
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))
}

/** A host on which an agent can remember something. */
export async function hostWithAgent(): Promise<TemporaryHost & AsyncDisposable> {
  const host = await temporaryHost()
  await mkdir(host.place(host.layout.state), { recursive: true })
  return host
}
