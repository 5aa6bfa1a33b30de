import { describe } from '../../kit/errors.ts'
import { HostKeys } from '../../lifecycle/host-key-store.ts'
import {
  authorityRows,
  type CertificateRow,
  certificateRows,
} from '../../lifecycle/key-rotation/certificate-rows.ts'
import { Session } from '../../lifecycle/session.ts'
import type { Host } from '../../spec/host.ts'
import { exitCodes } from '../command.ts'
import { openWays } from '../ssh-connector.ts'
import { limitHosts } from '../limit-hosts.ts'
import { openIdentity } from '../load-identity.ts'
import { print } from '../print.ts'
import type { CertsAction } from './action.ts'
import { listText } from './list-text.ts'

/** A host that did not answer, and why. */
export interface Unheard {
  readonly host: string
  readonly reason: string
}

/** `hyperkube certs list [HOST...]`: asks the agents that are there, and changes nothing. */
export const listCertificates: CertsAction = async ({ context, options, cluster, words }) => {
  const { operator, now, signal } = context
  const hosts = limitHosts(cluster, words.length === 0 ? undefined : words)
  const identity = await openIdentity(context, options, cluster.metadata.name)
  const ways = await openWays(operator, options.file, cluster, new HostKeys(identity))
  const rowsOf = async (host: Host): Promise<CertificateRow[]> => {
    const remote = await ways.connect(host, signal)
    const session = new Session(host.name, remote, async (again) => ways.connect(host, again), signal)
    try {
      const { certificates } = await session.ask({ type: 'certificates' }, 'certificates')
      return certificateRows(host.name, certificates, identity, now())
    } finally {
      await session.close()
      await remote.close()
    }
  }
  const asked = hosts.map(async (host) =>
    rowsOf(host).catch((error: unknown): Unheard => {
      signal.throwIfAborted()
      return { host: host.name, reason: describe(error) }
    }),
  )
  const found = await Promise.all(asked).finally(() => ways.close())
  const certificates = found.flatMap((one) => ('reason' in one ? [] : one))
  const unheard = found.flatMap((one) => ('reason' in one ? [one] : []))
  const authorities = authorityRows(identity)
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'CertificateList',
    cluster: cluster.metadata.name,
    certificates,
    authorities,
    unheard,
  }
  print(context.stdout, options.output, document, () =>
    listText({ certificates, authorities, unheard }, options.output === 'wide', context.paint),
  )
  const isBad =
    unheard.length > 0 || certificates.some(({ state }) => state === 'expired' || state === 'missing')
  return isBad ? exitCodes.failure : exitCodes.ok
}
