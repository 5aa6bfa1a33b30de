import { formatError, HyperkubeError } from '../../kit/errors.ts'
import { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { parseKubeconfig } from '../../kube/kubeconfig.ts'
import type { KubeObject } from '../../kube/object.ts'
import { findObject, listObjects } from '../../kube/read-objects.ts'
import { applyObject, patchObject } from '../../kube/write-objects.ts'
import type { ManagedClusterSpec } from '../../fleet/cluster-resource.ts'
import {
  buildAccessSecret,
  buildMemberRbac,
  fleetNamespace,
  type MemberAccess,
  requestMemberToken,
} from './member-access.ts'
import { clusterSetKind, managedClusterKind } from './resources.ts'

/** The management plane, as an operator reaches it. */
export interface Management extends Disposable {
  readonly client: KubeClient
  /** How managed clusters reach it. */
  readonly endpoint: Pick<MemberAccess, 'servers' | 'serverName' | 'ca'>
}

export interface OpenManagementOptions {
  /** Path of a kubeconfig of an administrator. */
  readonly kubeconfig: string
  /** URL at which managed clusters reach the API. Default: the server in the kubeconfig. */
  readonly server?: string | undefined
  readonly readFile: (path: string) => Promise<string>
  readonly signal: AbortSignal
}

/** Opens a management plane. Throws if the cluster has no CustomResourceDefinitions of a fleet. */
export async function openManagement({
  kubeconfig,
  server,
  readFile,
  signal,
}: OpenManagementOptions): Promise<Management> {
  const read = async (path: string): Promise<string> =>
    readFile(path).catch((cause: unknown) => {
      throw new HyperkubeError('KUBECONFIG_NOT_READ', `${path} cannot be read: ${formatError(cause)}`)
    })
  const access = parseKubeconfig(await read(kubeconfig), kubeconfig)
  const { serverName, ca } = access
  const client = new KubeClient({ ...access, signal })
  try {
    await listObjects(client, clusterSetKind)
    return {
      client,
      endpoint: {
        servers: server ?? access.servers.join(','),
        ...(serverName === undefined ? {} : { serverName }),
        ca: typeof ca === 'string' ? ca : await read(ca.file),
      },
      [Symbol.dispose]: () => client.close(),
    }
  } catch (error) {
    client.close()
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error
    throw new HyperkubeError(
      'FLEET_MANAGEMENT_NOT_READY',
      `the cluster of ${kubeconfig} is not a management plane`,
      {
        hint: 'in its directory, add fleet-rollout and fleet-status to spec.manager.controllers, then: hyperkube up',
      },
    )
  }
}

const idAnnotation = 'hyperkube.dev/cluster-id'

/**
 * Finds the Cluster object of a managed cluster; undefined if it has not joined. Throws if a cluster with
 * another id has joined with the same name.
 */
export async function findManagedCluster(
  { client }: Pick<Management, 'client'>,
  name: string,
  cluster: string,
) {
  const found = await findObject(client, managedClusterKind, { name })
  const owner = found?.metadata.annotations?.[idAnnotation]
  if (owner === undefined || owner === cluster) return found
  throw new HyperkubeError(
    'FLEET_NAME_TAKEN',
    `the management plane has another cluster with the name ${name}, with the id ${owner}`,
    {
      hint: `if that cluster does not exist any more: kubectl delete clusters.fleet.hyperkube.dev ${name} && kubectl -n ${fleetNamespace} delete serviceaccount ${name}`,
    },
  )
}

/** Writes a signed document. A rollout permits the cluster to apply it. */
export async function writeDesired(
  { client }: Pick<Management, 'client'>,
  name: string,
  desired: NonNullable<ManagedClusterSpec['desired']>,
): Promise<void> {
  await patchObject(client, managedClusterKind, { name }, { spec: { desired } }, { idempotent: true })
}

export interface JoinOptions {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Id in the identity of the cluster. */
  readonly cluster: string
  /** Public key of the operator of the cluster. */
  readonly publicKey: string
}

/**
 * Connects a cluster to a management plane. Each step can be repeated. A new credential does not make previous
 * ones invalid: delete the service account for that.
 */
export async function joinCluster(
  { client, endpoint }: Management,
  managed: KubeClient,
  { name, labels, cluster, publicKey }: JoinOptions,
): Promise<KubeObject> {
  await registerCluster(client, name, labels, cluster)
  const access = { ...endpoint, ...(await requestMemberToken(client, name)), name, cluster, publicKey }
  return applyObject(managed, buildAccessSecret(access), { force: true })
}

/** Creates the Cluster object of a managed cluster, its service account and its permissions. */
export async function registerCluster(
  client: KubeClient,
  name: string,
  labels: Readonly<Record<string, string>>,
  id?: string,
): Promise<void> {
  const { apiVersion, kind } = managedClusterKind
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: fleetNamespace } }
  const annotations = id === undefined ? {} : { [idAnnotation]: id }
  const cluster = { apiVersion, kind, metadata: { name, labels, annotations } }
  for (const manifest of [namespace, cluster, ...buildMemberRbac(name)])
    await applyObject(client, manifest, { force: true })
}
