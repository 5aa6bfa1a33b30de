import { z } from 'zod'
import type { DocumentTrust } from '../../fleet/desired-document.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { parsePublicKey } from '../../kit/signature.ts'
import { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject, type Manifest } from '../../kube/object.ts'
import { findObject } from '../../kube/read-objects.ts'
import { buildRole, buildRoleBinding } from '../../kube/rbac.ts'
import { patchObject } from '../../kube/write-objects.ts'
import { fleetGroup } from './resources.ts'

/** Namespace of the management plane with one service account for each managed cluster. */
export const fleetNamespace = 'hyperkube-fleet'

/** Where a managed cluster stores how it reaches the management plane. */
export const accessSecret = { namespace: 'kube-system', name: 'hyperkube-fleet-access' } as const

/** Lifetime of a token. A management plane that is lost for longer needs `fleet join` again. */
const memberTokenMs = 90 * 86_400_000
/** A token is renewed when it is valid for less than this time. */
const renewBeforeMs = 60 * 86_400_000

/** Credential of a managed cluster and what it trusts. `fleet join` writes it. */
const accessData = z.object({
  /** Name of the Cluster object. */
  name: z.string().min(1),
  /** URLs of the API servers of the management plane, separated by commas. */
  servers: z.string().min(1),
  serverName: z.string().optional(),
  ca: z.string().min(1),
  token: z.string().min(1),
  /** When the token expires. */
  expires: z.iso.datetime(),
  /** Id in the identity of this cluster. */
  cluster: z.uuid(),
  /** Public key of the operator of this cluster. */
  publicKey: z.string(),
})
export type MemberAccess = z.infer<typeof accessData>

/** Builds the Secret that connects a managed cluster to its management plane. */
export function buildAccessSecret(access: MemberAccess): Manifest {
  return { apiVersion: 'v1', kind: 'Secret', metadata: accessSecret, stringData: { ...access } }
}

/** Builds the permissions of a managed cluster: to read its own Cluster object and to write its status. */
export function buildMemberRbac(cluster: string): Manifest[] {
  const name = `hyperkube:fleet:${cluster}`
  const own = { apiGroups: [fleetGroup], resourceNames: [cluster] }
  const subject = { kind: 'User', name: `system:serviceaccount:${fleetNamespace}:${cluster}` } as const
  const renewal = { apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: [cluster] }
  return [
    {
      ...{ apiVersion: 'v1', kind: 'ServiceAccount', automountServiceAccountToken: false },
      metadata: { name: cluster, namespace: fleetNamespace },
    },
    buildRole(name, [
      { ...own, resources: ['clusters'], verbs: ['get', 'list', 'watch'] },
      { ...own, resources: ['clusters/status'], verbs: ['patch'] },
    ]),
    buildRoleBinding(name, name, subject),
    buildRole(name, [{ ...renewal, verbs: ['create'] }], fleetNamespace),
    buildRoleBinding(name, name, subject, fleetNamespace),
  ]
}

const tokenResponse = z.object({
  status: z.object({ token: z.string().min(1), expirationTimestamp: z.string() }),
})

/** Requests a token of the service account of a managed cluster. */
export async function requestMemberToken(
  client: KubeClient,
  cluster: string,
): Promise<Pick<MemberAccess, 'token' | 'expires'>> {
  const response = await client.request({
    method: 'POST',
    path: `/api/v1/namespaces/${fleetNamespace}/serviceaccounts/${cluster}/token`,
    body: {
      ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
      spec: { expirationSeconds: memberTokenMs / 1000 },
    },
  })
  const { token, expirationTimestamp } = tokenResponse.parse(response).status
  return { token, expires: new Date(expirationTimestamp).toISOString() }
}

/** An open connection to the management plane. */
export interface ManagementLink {
  /** Name of the Cluster object. */
  readonly name: string
  readonly client: KubeClient
  readonly trust: DocumentTrust
  /** Replaces the token if it expires soon. */
  renewToken(now: Date): Promise<void>
}

const schema = kubeObject.extend({ data: z.record(z.string(), z.base64()).optional() })
const secretKind: Kind<z.infer<typeof schema>> = { apiVersion: 'v1', kind: 'Secret', schema }

/**
 * Opens the connection of a managed cluster from the Secret. A changed Secret closes the previous connection,
 * which also ends its watch.
 */
export class MemberConnector implements Disposable {
  readonly #client: KubeClient
  readonly #guard: () => void
  #open:
    | (ManagementLink & { readonly version: string | undefined; readonly stop: AbortController })
    | undefined

  /** `guard` throws if this process may not act any more. */
  constructor(client: KubeClient, guard: () => void) {
    this.#client = client
    this.#guard = guard
  }

  /** Returns undefined if the cluster has not joined a management plane. */
  async connect(): Promise<ManagementLink | undefined> {
    const secret = await findObject(this.#client, secretKind, accessSecret)
    const version = secret?.metadata.resourceVersion
    if (this.#open?.version === version && secret !== undefined) return this.#open
    this[Symbol.dispose]()
    if (secret === undefined) return undefined
    const access = parseAccess(secret.data ?? {})
    const stop = new AbortController()
    const client = openManagementClient(
      access,
      AbortSignal.any([this.#client.signal, stop.signal]),
      this.#guard,
    )
    const { name } = access
    this.#open = {
      ...{ name, client, version, stop, trust: readTrust(access) },
      renewToken: async (now) => {
        if (Date.parse(access.expires) - now.getTime() > renewBeforeMs) return
        const renewed = await requestMemberToken(client, name)
        const data = { token: encode(renewed.token), expires: encode(renewed.expires) }
        await patchObject(this.#client, secretKind, accessSecret, { data }, { idempotent: true })
      },
    }
    return this.#open
  }

  [Symbol.dispose](): void {
    this.#open?.stop.abort()
    this.#open?.client.close()
    this.#open = undefined
  }
}

/** The largest response is one Cluster object, of at most a few MiB. A management plane is not trusted with more. */
const maxResponseBytes = 8 * 2 ** 20

export function openManagementClient(
  { servers, serverName, ca, token }: Pick<MemberAccess, 'servers' | 'serverName' | 'ca' | 'token'>,
  signal: AbortSignal,
  guard: () => void,
): KubeClient {
  return new KubeClient({
    ...{ servers: servers.split(','), ca, credentials: { token }, signal, guard, maxResponseBytes },
    ...(serverName === undefined ? {} : { serverName }),
  })
}

function readTrust({ publicKey: text, cluster }: MemberAccess): DocumentTrust {
  const publicKey = parsePublicKey(text)
  if (publicKey === undefined) throw buildAccessError('publicKey is not a key')
  return { publicKey, cluster }
}

function parseAccess(data: Readonly<Record<string, string>>): MemberAccess {
  const texts = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  )
  const parsed = accessData.safeParse(texts)
  if (parsed.success) return parsed.data
  // The values are left out, because the token is one of them.
  throw buildAccessError(parsed.error.issues.map(({ path }) => path.join('.')).join(', '))
}

function buildAccessError(what: string): HyperkubeError {
  const { namespace, name } = accessSecret
  return new HyperkubeError('FLEET_ACCESS_NOT_VALID', `Secret ${namespace}/${name} is not valid: ${what}`, {
    hint: 'to write it again, on the machine with the key of the cluster: hyperkube fleet join',
  })
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}
