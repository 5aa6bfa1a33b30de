import type { PlannedFile } from '../../contract/component-plan.ts'
import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { listEncryptionTags } from '../../identity/encryption-tags.ts'
import type { Identity } from '../../identity/identity.ts'
import { encryptionFile } from '../../identity/secret-files.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { formatNames } from '../../kit/text.ts'
import type { Session } from '../agents/session.ts'

/** What an operator may have replaced, by the name of the API server's file that shows it. */
const namesByFile: Readonly<Record<string, string>> = {
  'ca.crt': 'the kubernetes CA',
  'etcd-ca.crt': 'the etcd CA',
  'front-proxy-ca.crt': 'the front-proxy CA',
  'service-account.pub': 'the service account key',
  'encryption.yaml': 'the encryption key',
}

/**
 * Reports an identity that is older than the keys on the hosts, for example from a backup before a rotation. An `up`
 * would replace the only copies of the newer keys. Without the newer encryption key, all Secrets are lost.
 */
export async function checkIdentityAge(
  identity: Identity,
  plans: readonly NodePlan[],
  diffs: ReadonlyMap<string, { readonly ops: readonly Op[] }>,
  sessions: ReadonlyMap<string, Pick<Session, 'request'>>,
): Promise<Finding[]> {
  const all = await settleAll(
    plans.map(async (plan): Promise<Finding[]> => {
      const session = sessions.get(plan.host)
      if (session === undefined || !changesKeys(plan, diffs.get(plan.host)?.ops ?? [])) return []
      // Every digest differs from an empty text, so the agent returns its last plan.
      const { plan: last } = await session.request(
        { type: 'previous-plan', differentFrom: '' },
        'previous-plan',
      )
      return last === undefined ? [] : findNewerKeys(identity, last, plan)
    }),
  )
  return all.flat()
}

function changesKeys(plan: NodePlan, ops: readonly Op[]): boolean {
  const paths = new Set(listKeyFiles(plan).map(({ path }) => path))
  return ops.some(({ target, action, name }) => target === 'file' && action === 'change' && paths.has(name))
}

/** Compares the keys of the last applied plan of a host with those of its next plan. */
export function findNewerKeys(identity: Identity, last: NodePlan, next: NodePlan): Finding[] {
  const planned = new Map(listKeyFiles(next).map(({ path, content }) => [path, content]))
  const encryptionTags = listEncryptionTags(identity)
  const isKnown = ({ path, content }: PlannedFile): boolean => {
    const nextContent = planned.get(path)
    if (nextContent === undefined) return true
    if (content.kind === 'secret') return content.secret !== encryptionFile || encryptionTags.has(content.tag)
    // In each phase of a rotation, hosts still trust the key that signed in the phase before.
    const [signer] = content.text.match(pemBlock) ?? []
    return signer === undefined || (nextContent.kind === 'text' && nextContent.text.includes(signer))
  }
  const names = listKeyFiles(last).flatMap((file) => (isKnown(file) ? [] : [readName(file)]))
  if (names.length === 0) return []
  return [
    {
      code: 'IDENTITY_OUTDATED',
      severity: 'error',
      message: `cluster.identity is older than the keys of the cluster: it does not have ${formatNames(names)} that the host uses`,
      hint: 'restore the newest cluster.identity; a snapshot that is newer than the rotation contains it: hyperkube etcd snapshot unpack FILE --key FILE --to DIRECTORY; only if the data in etcd is as old as this identity: --ignore IDENTITY_OUTDATED',
      host: next.host,
    },
  ]
}

const pemBlock = /-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/

function listKeyFiles({ components }: NodePlan): readonly PlannedFile[] {
  const apiServer = components.find(({ name }) => name === 'kube-apiserver')
  return (apiServer?.files ?? []).filter((file) => readName(file) !== '')
}

function readName({ path }: PlannedFile): string {
  return namesByFile[path.slice(path.lastIndexOf('/') + 1)] ?? ''
}
