import type { Identity } from '../../identity/identity.ts'
import { trustedAuthorities } from '../../identity/trusted-keys.ts'
import { KubeClient } from '../../kube/client.ts'
import { type Access, accessOf } from '../../kube/kubeconfig.ts'
import { operatorCredentials } from '../operator-credentials.ts'
import { type Controllers, type Reported, readReported } from './reported-status.ts'

/** Somebody to ask for what a cluster says of itself, who needs no way to its hosts. */
export interface Reporter extends Disposable {
  readonly servers: readonly string[]
  read(now: Date): Promise<Reported>
}

export interface ReportWorld extends Controllers {
  readonly signal: AbortSignal
}

/** By the text of somebody's kubeconfig, which needs nothing else. */
export function reporterBy(kubeconfig: string, file: string, world: ReportWorld): Reporter {
  return reporter(accessOf(kubeconfig, file), world)
}

export interface OwnAccess {
  readonly identity: Identity
  /** Who asks. */
  readonly operator: string
  /** Of the API, as operators reach them. */
  readonly servers: readonly string[]
  readonly now: Date
}

/** By the cluster's identity, straight to its API servers. */
export async function reporterFor(
  { identity, operator, servers, now }: OwnAccess,
  world: ReportWorld,
): Promise<Reporter> {
  const { kubernetes } = await operatorCredentials(identity, operator, now)
  const { certificate, privateKey } = kubernetes
  const authority = trustedAuthorities(identity.authorities.kubernetes)
  const credentials = { certificate, privateKey: privateKey.revealText() }
  return reporter({ servers, authority, credentials }, world)
}

/** In milliseconds: an API that is well answers at once, and whoever asks has no other way to know. */
const timeout = 15_000

function reporter(access: Access, { signal, ...controllers }: ReportWorld): Reporter {
  const client = new KubeClient({ ...access, signal })
  return {
    servers: access.servers,
    read: async (now) => readReported(client, controllers, now, { signal, timeout }),
    [Symbol.dispose]: () => client.close(),
  }
}
