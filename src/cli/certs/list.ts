import { formatError } from '../../kit/errors.ts'
import { HostKeyStore } from '../../ssh/host-key-store.ts'
import {
  listCaRows,
  type CertificateRow,
  listCertificateRows,
} from '../../lifecycle/key-rotation/certificate-rows.ts'
import { Session } from '../../lifecycle/agents/session.ts'
import type { HostSpec } from '../../spec/host.ts'
import { exitCodes } from '../command/command.ts'
import { openSshConnector } from '../../workspace/ssh-connector.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { printResult } from '../command/print.ts'
import type { CertsAction } from './action.ts'
import { formatCertificateList, type UnreachableHost } from './list-text.ts'

/** `hyperkube certs list [HOST...]`: reads from the installed agents and changes nothing. */
export const listCertificates: CertsAction = async ({ context, options, cluster, args }) => {
  const { operator, now, signal } = context
  const hosts = limitHosts(cluster, args.length === 0 ? undefined : args)
  const identity = await openIdentity(context, options, cluster.metadata.name)
  const connector = await openSshConnector(operator, options.file, cluster, new HostKeyStore(identity))
  const readRows = async (host: HostSpec): Promise<CertificateRow[]> => {
    const remote = await connector.connect(host, signal)
    const session = new Session(
      host.name,
      remote,
      async (reconnectSignal) => connector.connect(host, reconnectSignal),
      signal,
    )
    try {
      const { certificates } = await session.request({ type: 'certificates' }, 'certificates')
      return listCertificateRows(host.name, certificates, identity, now())
    } finally {
      await session.close()
      await remote.close()
    }
  }
  const requests = hosts.map(async (host) =>
    readRows(host).catch((error: unknown): UnreachableHost => {
      signal.throwIfAborted()
      return { host: host.name, reason: formatError(error) }
    }),
  )
  const found = await Promise.all(requests).finally(() => connector.close())
  const certificates = found.flatMap((one) => ('reason' in one ? [] : one))
  const unreachable = found.flatMap((one) => ('reason' in one ? [one] : []))
  const cas = listCaRows(identity)
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'CertificateList',
    cluster: cluster.metadata.name,
    certificates,
    cas,
    unreachable,
  }
  printResult(context.stdout, options.output, document, () =>
    formatCertificateList({ certificates, cas, unreachable }, options.output === 'wide', context.paint),
  )
  const hasProblems =
    unreachable.length > 0 || certificates.some(({ state }) => state === 'expired' || state === 'missing')
  return hasProblems ? exitCodes.failure : exitCodes.ok
}
